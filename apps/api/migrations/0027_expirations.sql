CREATE INDEX "peers_expiry_page" ON "peers" USING btree ("expires_at","id") WHERE "peers"."state" = 'active';--> statement-breakpoint
CREATE INDEX "enrolment_keys_expiry" ON "enrolment_keys" USING btree ("expires_at","id") WHERE "enrolment_keys"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX "tokens_expiry" ON "tokens" USING btree ("expires_at","id");--> statement-breakpoint
CREATE INDEX "tokens_user_expiry" ON "tokens" USING btree ("user_id","expires_at","id");--> statement-breakpoint
CREATE INDEX "invites_expiry" ON "invites" USING btree ("expires_at","id") WHERE "invites"."used_at" is null;
