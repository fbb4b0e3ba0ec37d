CREATE TABLE "flow_records" (
	"id" text PRIMARY KEY NOT NULL,
	"network_id" text NOT NULL,
	"peer_id" text NOT NULL,
	"other_peer_id" text,
	"protocol" integer NOT NULL,
	"source" inet NOT NULL,
	"destination" inet NOT NULL,
	"source_port" integer,
	"destination_port" integer,
	"icmp_type" integer,
	"direction" text NOT NULL,
	"verdict" text NOT NULL,
	"rule_id" text,
	"rx_packets" bigint NOT NULL,
	"rx_bytes" bigint NOT NULL,
	"tx_packets" bigint NOT NULL,
	"tx_bytes" bigint NOT NULL,
	"drops" bigint NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"last_at" timestamp with time zone NOT NULL,
	"state" text NOT NULL,
	CONSTRAINT "flow_records_verdict" CHECK ("flow_records"."verdict" in ('allow', 'deny')),
	CONSTRAINT "flow_records_direction" CHECK ("flow_records"."direction" in ('in', 'out')),
	CONSTRAINT "flow_records_state" CHECK ("flow_records"."state" in ('open', 'ended'))
);
--> statement-breakpoint
CREATE TABLE "rule_hits" (
	"rule_id" text NOT NULL,
	"peer_id" text NOT NULL,
	"packets" bigint NOT NULL,
	"bytes" bigint NOT NULL,
	"drops" bigint NOT NULL,
	"flows" bigint NOT NULL,
	"counter_epoch" text NOT NULL,
	"epoch_packets" bigint NOT NULL,
	"epoch_bytes" bigint NOT NULL,
	"epoch_drops" bigint NOT NULL,
	"epoch_flows" bigint NOT NULL,
	"last_hit_at" timestamp with time zone,
	CONSTRAINT "rule_hits_rule_id_peer_id_pk" PRIMARY KEY("rule_id","peer_id")
);
--> statement-breakpoint
ALTER TABLE "networks" ADD COLUMN "flow_sampling" integer;--> statement-breakpoint
ALTER TABLE "networks" ADD COLUMN "flow_keep_hours" integer DEFAULT 168 NOT NULL;--> statement-breakpoint
ALTER TABLE "flow_records" ADD CONSTRAINT "flow_records_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rule_hits" ADD CONSTRAINT "rule_hits_rule_id_rules_id_fk" FOREIGN KEY ("rule_id") REFERENCES "public"."rules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "networks" ADD CONSTRAINT "networks_flow_sampling" CHECK ("networks"."flow_sampling" between 1 and 10000);--> statement-breakpoint
ALTER TABLE "networks" ADD CONSTRAINT "networks_flow_keep_hours" CHECK ("networks"."flow_keep_hours" > 0);--> statement-breakpoint
CREATE INDEX "flow_records_page" ON "flow_records" USING btree ("network_id","started_at","id");--> statement-breakpoint
CREATE INDEX "flow_records_peer_page" ON "flow_records" USING btree ("network_id","peer_id","started_at","id");--> statement-breakpoint
CREATE INDEX "flow_records_other_page" ON "flow_records" USING btree ("network_id","other_peer_id","started_at","id");--> statement-breakpoint
CREATE INDEX "flow_records_rule_page" ON "flow_records" USING btree ("network_id","rule_id","started_at","id");--> statement-breakpoint
CREATE INDEX "flow_records_verdict_page" ON "flow_records" USING btree ("network_id","verdict","started_at","id");--> statement-breakpoint
CREATE INDEX "flow_records_protocol_page" ON "flow_records" USING btree ("network_id","protocol","started_at","id");--> statement-breakpoint
CREATE INDEX "flow_records_port_page" ON "flow_records" USING btree ("network_id","destination_port","started_at","id");--> statement-breakpoint
CREATE INDEX "flow_records_open" ON "flow_records" USING btree ("peer_id") WHERE "flow_records"."state" = 'open';
