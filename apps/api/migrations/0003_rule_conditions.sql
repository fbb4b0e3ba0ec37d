ALTER TABLE "rules" ADD COLUMN "name" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "rules" ADD COLUMN "description" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "rules" ADD COLUMN "place" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "rules" ADD COLUMN "action" text DEFAULT 'allow' NOT NULL;--> statement-breakpoint
ALTER TABLE "rules" ADD COLUMN "state" text DEFAULT 'on' NOT NULL;--> statement-breakpoint
ALTER TABLE "rules" ADD COLUMN "protocol" text;--> statement-breakpoint
ALTER TABLE "rules" ADD COLUMN "ports" jsonb;--> statement-breakpoint
ALTER TABLE "rules" ADD COLUMN "icmp_type" integer;--> statement-breakpoint
ALTER TABLE "rules" ADD COLUMN "icmp_code" integer;