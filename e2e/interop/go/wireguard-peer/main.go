// Command wireguard-peer runs one tunnel of the current wireguard-go module; package peer says how it is spoken to.
package main

import (
	"golang.zx2c4.com/wireguard/conn"
	"golang.zx2c4.com/wireguard/device"
	"golang.zx2c4.com/wireguard/tun"

	"weft.example/wireguard-peer/peer"
)

func main() {
	peer.Main("wireguard-peer", open)
}

func open(options peer.Options) (peer.Tunnel, error) {
	tunDevice, err := tun.CreateTUN(options.Name, options.MTU)
	if err != nil {
		return nil, err
	}
	level := device.LogLevelError
	if options.Verbose {
		level = device.LogLevelVerbose
	}
	return device.NewDevice(tunDevice, conn.NewDefaultBind(), device.NewLogger(level, options.Name+": ")), nil
}
