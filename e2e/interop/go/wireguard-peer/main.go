// Command wireguard-peer runs one tunnel of the current wireguard-go module, for interoperability tests and benchmarks.
//
// It opens a TUN device, reads a configuration in the text form of WireGuard's configuration protocol from standard
// input up to the first empty line, applies it and prints "ready". After that every line "get" on standard input prints
// the device's state followed by an empty line. It ends on SIGINT, SIGTERM or when standard input closes.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.zx2c4.com/wireguard/conn"
	"golang.zx2c4.com/wireguard/device"
	"golang.zx2c4.com/wireguard/tun"
)

func main() {
	name := flag.String("tun", "", "name of the TUN device to create")
	mtu := flag.Int("mtu", 1420, "MTU of the TUN device in bytes")
	verbose := flag.Bool("verbose", false, "log every handshake to standard error")
	flag.Parse()
	if err := run(*name, *mtu, *verbose); err != nil {
		fmt.Fprintf(os.Stderr, "wireguard-peer: %v\n", err)
		os.Exit(1)
	}
}

func run(name string, mtu int, verbose bool) error {
	if name == "" {
		return errors.New("-tun NAME is missing")
	}
	input := bufio.NewScanner(os.Stdin)
	settings, err := readSettings(input)
	if err != nil {
		return err
	}
	tunDevice, err := tun.CreateTUN(name, mtu)
	if err != nil {
		return fmt.Errorf("open TUN device %q: %w", name, err)
	}
	level := device.LogLevelError
	if verbose {
		level = device.LogLevelVerbose
	}
	tunnel := device.NewDevice(tunDevice, conn.NewDefaultBind(), device.NewLogger(level, name+": "))
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

func answer(tunnel *device.Device, line string) error {
	if line != "get" {
		fmt.Fprintf(os.Stderr, "wireguard-peer: unknown request %q\n", line)
		return nil
	}
	state, err := tunnel.IpcGet()
	if err != nil {
		return fmt.Errorf("read the tunnel's state: %w", err)
	}
	fmt.Print(state, "\n")
	return nil
}
