// Package peer runs one tunnel of a userspace implementation for interoperability tests and benchmarks.
//
// It reads a configuration in the text form of WireGuard's configuration protocol from standard input up to the first
// empty line, applies it and prints "ready". After that every line "get" on standard input prints the device's state
// followed by an empty line. It ends on SIGINT, SIGTERM or when standard input closes.
package peer

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Tunnel is what all implementations offer.
type Tunnel interface {
	IpcSet(settings string) error
	IpcGet() (string, error)
	Up() error
	Close()
	Wait() chan struct{}
}

// Options are the command line.
type Options struct {
	// Name of the TUN device to create.
	Name string
	// MTU of the TUN device in bytes.
	MTU int
	// Verbose logs every handshake to standard error.
	Verbose bool
}

// Main runs the program called name with the tunnel that open makes, and ends the process when that fails.
func Main(name string, open func(Options) (Tunnel, error)) {
	var options Options
	flag.StringVar(&options.Name, "tun", "", "name of the TUN device to create")
	flag.IntVar(&options.MTU, "mtu", 1420, "MTU of the TUN device in bytes")
	flag.BoolVar(&options.Verbose, "verbose", false, "log every handshake to standard error")
	flag.Parse()
	if err := run(options, open); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

func run(options Options, open func(Options) (Tunnel, error)) error {
	if options.Name == "" {
		return errors.New("-tun NAME is missing")
	}
	input := bufio.NewScanner(os.Stdin)
	settings, err := readSettings(input)
	if err != nil {
		return err
	}
	tunnel, err := open(options)
	if err != nil {
		return fmt.Errorf("open TUN device %q: %w", options.Name, err)
	}
	defer tunnel.Close()
	if err := tunnel.IpcSet(settings); err != nil {
		return fmt.Errorf("apply the configuration: %w", err)
	}
	if err := tunnel.Up(); err != nil {
		return fmt.Errorf("bring the tunnel up: %w", err)
	}
	fmt.Println("ready")

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	requests := make(chan string)
	go forwardLines(input, requests)
	for {
		select {
		case <-signals:
			return nil
		case <-tunnel.Wait():
			return errors.New("the tunnel closed by itself")
		case line, open := <-requests:
			if !open {
				return nil
			}
			if err := answer(tunnel, line); err != nil {
				return err
			}
		}
	}
}

// readSettings returns the lines before the first empty one.
func readSettings(input *bufio.Scanner) (string, error) {
	var settings strings.Builder
	for input.Scan() {
		line := input.Text()
		if line == "" {
			return settings.String(), nil
		}
		settings.WriteString(line)
		settings.WriteByte('\n')
	}
	if err := input.Err(); err != nil {
		return "", fmt.Errorf("read the configuration: %w", err)
	}
	return "", errors.New("the configuration does not end with an empty line")
}

func forwardLines(input *bufio.Scanner, lines chan<- string) {
	defer close(lines)
	for input.Scan() {
		lines <- input.Text()
	}
}

func answer(tunnel Tunnel, line string) error {
	if line != "get" {
		fmt.Fprintf(os.Stderr, "unknown request %q\n", line)
		return nil
	}
	state, err := tunnel.IpcGet()
	if err != nil {
		return fmt.Errorf("read the tunnel's state: %w", err)
	}
	fmt.Print(state, "\n")
	return nil
}
