CREATE INDEX "invites_creator" ON "invites" USING btree ("created_by");--> statement-breakpoint
CREATE INDEX "invites_user" ON "invites" USING btree ("used_by");--> statement-breakpoint
CREATE INDEX "tokens_creator" ON "tokens" USING btree ("created_by");--> statement-breakpoint
CREATE INDEX "network_roles_network" ON "network_roles" USING btree ("network_id");
