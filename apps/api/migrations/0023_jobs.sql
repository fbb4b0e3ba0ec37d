CREATE TABLE "jobs" (
	"id" text PRIMARY KEY NOT NULL,
	"network_id" text NOT NULL,
	"peer_id" text NOT NULL,
	"target_peer_id" text,
	"kind" text NOT NULL,
	"state" text NOT NULL,
	"input" jsonb NOT NULL,
	"asked_by_kind" text NOT NULL,
	"asked_by_id" text,
	"asked_by_login" text,
	"action" text NOT NULL,
	"time_limit_ms" integer NOT NULL,
	"lease_until" timestamp with time zone NOT NULL,
	"cancel_asked_at" timestamp with time zone,
	"failure_code" text,
	"failure_detail" text,
	"result" text,
	"result_bytes" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	CONSTRAINT "jobs_state_known" CHECK ("jobs"."state" in ('queued', 'running', 'done', 'failed', 'cancelled', 'expired')),
	CONSTRAINT "jobs_ended" CHECK (("jobs"."ended_at" is null) = ("jobs"."state" in ('queued', 'running')))
);
--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_network_id_networks_id_fk" FOREIGN KEY ("network_id") REFERENCES "public"."networks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_peer_id_peers_id_fk" FOREIGN KEY ("peer_id") REFERENCES "public"."peers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_target_peer_id_peers_id_fk" FOREIGN KEY ("target_peer_id") REFERENCES "public"."peers"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "jobs_page" ON "jobs" USING btree ("network_id","created_at","id");--> statement-breakpoint
CREATE INDEX "jobs_kind_page" ON "jobs" USING btree ("network_id","kind","created_at","id");--> statement-breakpoint
CREATE INDEX "jobs_state_page" ON "jobs" USING btree ("network_id","state","created_at","id");--> statement-breakpoint
CREATE INDEX "jobs_peer_page" ON "jobs" USING btree ("network_id","peer_id","created_at","id");--> statement-breakpoint
CREATE INDEX "jobs_target_page" ON "jobs" USING btree ("network_id","target_peer_id","created_at","id");--> statement-breakpoint
CREATE INDEX "jobs_pair" ON "jobs" USING btree ("peer_id","target_peer_id","kind","created_at");--> statement-breakpoint
CREATE INDEX "jobs_target" ON "jobs" USING btree ("target_peer_id");--> statement-breakpoint
CREATE INDEX "jobs_at_work" ON "jobs" USING btree ("lease_until") WHERE "jobs"."state" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "jobs_age" ON "jobs" USING btree ("created_at");
