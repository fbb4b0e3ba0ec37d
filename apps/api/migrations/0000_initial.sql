CREATE TABLE "audit_events" (
	"id" text PRIMARY KEY NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_id" text,
	"actor_login" text,
	"address" text NOT NULL,
	"request_id" text NOT NULL,
	"action" text NOT NULL,
	"object_id" text,
	"network_id" text,
	"before" jsonb,
	"after" jsonb
);
--> statement-breakpoint
CREATE TABLE "enrolment_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"network_id" text NOT NULL,
	"hash" text NOT NULL,
	"hint" text NOT NULL,
	"uses" integer DEFAULT 0 NOT NULL,
	"uses_max" integer,
	"expires_at" timestamp with time zone NOT NULL,
	"revoked_at" timestamp with time zone,
	"created_by" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "enrolment_keys_not_overspent" CHECK ("enrolment_keys"."uses_max" is null or "enrolment_keys"."uses" <= "enrolment_keys"."uses_max")
);
--> statement-breakpoint
CREATE TABLE "instance" (
	"only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"server_private_key" text,
	"cursor_key" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "instance_is_single" CHECK ("instance"."only")
);
--> statement-breakpoint
CREATE TABLE "network_changes" (
	"network_id" text NOT NULL,
	"sequence" bigint NOT NULL,
	"kind" text NOT NULL,
	"peer_id" text,
	"at" timestamp with time zone NOT NULL,
	CONSTRAINT "network_changes_network_id_sequence_pk" PRIMARY KEY("network_id","sequence")
);
--> statement-breakpoint
CREATE TABLE "networks" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"ipv4_range" "cidr",
	"ipv6_range" "cidr",
	"epoch" bigint NOT NULL,
	"sequence" bigint DEFAULT 0 NOT NULL,
	"next_offset" bigint DEFAULT 1 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "networks_have_a_range" CHECK ("networks"."ipv4_range" is not null or "networks"."ipv6_range" is not null)
);
--> statement-breakpoint
CREATE TABLE "peers" (
	"id" text PRIMARY KEY NOT NULL,
	"network_id" text NOT NULL,
	"name" text NOT NULL,
	"hostname" text NOT NULL,
	"identity_key" text NOT NULL,
	"public_key" text NOT NULL,
	"host_offset" bigint NOT NULL,
	"ipv4" "inet",
	"ipv6" "inet",
	"os" text NOT NULL,
	"arch" text NOT NULL,
	"agent_version" text NOT NULL,
	"endpoints" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"rx_bytes" bigint DEFAULT 0 NOT NULL,
	"tx_bytes" bigint DEFAULT 0 NOT NULL,
	"counter_epoch" text,
	"epoch_rx_bytes" bigint DEFAULT 0 NOT NULL,
	"epoch_tx_bytes" bigint DEFAULT 0 NOT NULL,
	"last_seen_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "peers_totals_positive" CHECK ("peers"."rx_bytes" >= 0 and "peers"."tx_bytes" >= 0)
);
--> statement-breakpoint
CREATE TABLE "released_offsets" (
	"network_id" text NOT NULL,
	"host_offset" bigint NOT NULL,
	"released_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "released_offsets_network_id_host_offset_pk" PRIMARY KEY("network_id","host_offset")
);
--> statement-breakpoint
CREATE TABLE "rules" (
	"id" text PRIMARY KEY NOT NULL,
	"network_id" text NOT NULL,
	"kind" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"address" text NOT NULL,
	"user_agent" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tokens" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"name" text NOT NULL,
	"hash" text NOT NULL,
	"hint" text NOT NULL,
	"scopes" text[] NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp with time zone,
	"expires_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" text PRIMARY KEY NOT NULL,
	"login" text NOT NULL,
	"password_hash" text NOT NULL,
	"role" text NOT NULL,
	"disabled_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "enrolment_keys" ADD CONSTRAINT "enrolment_keys_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "enrolment_keys" ADD CONSTRAINT "enrolment_keys_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "network_changes" ADD CONSTRAINT "network_changes_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "peers" ADD CONSTRAINT "peers_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "released_offsets" ADD CONSTRAINT "released_offsets_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rules" ADD CONSTRAINT "rules_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "audit_events_page" ON "audit_events" USING btree ("at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "enrolment_keys_hash_unique" ON "enrolment_keys" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "enrolment_keys_page" ON "enrolment_keys" USING btree ("network_id","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "networks_name_unique" ON "networks" USING btree (lower("name"));--> statement-breakpoint
CREATE INDEX "networks_name_page" ON "networks" USING btree ("name","id");--> statement-breakpoint
CREATE INDEX "networks_created_page" ON "networks" USING btree ("created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "peers_identity_unique" ON "peers" USING btree ("identity_key");--> statement-breakpoint
CREATE UNIQUE INDEX "peers_public_key_unique" ON "peers" USING btree ("network_id","public_key");--> statement-breakpoint
CREATE UNIQUE INDEX "peers_name_unique" ON "peers" USING btree ("network_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "peers_offset_unique" ON "peers" USING btree ("network_id","host_offset");--> statement-breakpoint
CREATE UNIQUE INDEX "peers_ipv4_unique" ON "peers" USING btree ("network_id","ipv4");--> statement-breakpoint
CREATE UNIQUE INDEX "peers_ipv6_unique" ON "peers" USING btree ("network_id","ipv6");--> statement-breakpoint
CREATE INDEX "peers_created_page" ON "peers" USING btree ("network_id","created_at","id");--> statement-breakpoint
CREATE INDEX "rules_page" ON "rules" USING btree ("network_id","created_at","id");--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_expiry" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "tokens_hash_unique" ON "tokens" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "tokens_page" ON "tokens" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "tokens_user_page" ON "tokens" USING btree ("user_id","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "users_login_unique" ON "users" USING btree (lower("login"));