module weft.example/amneziawg-peer

go 1.24.4

require (
	github.com/amnezia-vpn/amneziawg-go v0.2.19
	weft.example/wireguard-peer v0.0.0
)

require (
	golang.org/x/crypto v0.42.0 // indirect
	golang.org/x/net v0.44.0 // indirect
	golang.org/x/sys v0.36.0 // indirect
	golang.zx2c4.com/wintun v0.0.0-20230126152724-0fa3db229ce2 // indirect
)

replace weft.example/wireguard-peer => ../
