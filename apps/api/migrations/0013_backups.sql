CREATE TABLE "backups" (
	"id" text PRIMARY KEY NOT NULL,
	"version" text NOT NULL,
	"bytes" bigint NOT NULL,
	"sha256" text NOT NULL,
	"row_count" integer NOT NULL,
	"verified_at" timestamp with time zone,
	"created_by" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "backups" ADD CONSTRAINT "backups_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "backups_page" ON "backups" USING btree ("created_at","id");
