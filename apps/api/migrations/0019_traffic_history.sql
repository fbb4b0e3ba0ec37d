CREATE TABLE "traffic_history" (
	"network_id" text NOT NULL,
	"peer_id" text NOT NULL,
	"step" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"rx_bytes" bigint NOT NULL,
	"tx_bytes" bigint NOT NULL,
	CONSTRAINT "traffic_history_peer_id_step_at_pk" PRIMARY KEY("peer_id","step","at"),
	CONSTRAINT "traffic_history_step_known" CHECK ("traffic_history"."step" in ('10s', '1m', '1h'))
);
--> statement-breakpoint
ALTER TABLE "traffic_history" ADD CONSTRAINT "traffic_history_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "traffic_history_network" ON "traffic_history" USING btree ("network_id","step","at");--> statement-breakpoint
CREATE INDEX "traffic_history_age" ON "traffic_history" USING btree ("step","at");
