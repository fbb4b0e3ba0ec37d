// Command amneziawg-peer runs one tunnel of the amneziawg-go module (2.0); package peer says how it is spoken to.
package main

import (
	"github.com/amnezia-vpn/amneziawg-go/conn"
	"github.com/amnezia-vpn/amneziawg-go/device"
	"github.com/amnezia-vpn/amneziawg-go/tun"

	"weft.example/wireguard-peer/peer"
)

func main() {
	peer.Main("amneziawg-peer", open)
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
