DROP INDEX "invites_creator";--> statement-breakpoint
CREATE INDEX "groups_created_page" ON "groups" USING btree ("network_id","created_at","id");--> statement-breakpoint
CREATE INDEX "routes_peer_page" ON "routes" USING btree ("network_id","peer_id","created_at","id");--> statement-breakpoint
CREATE INDEX "routes_state_page" ON "routes" USING btree ("network_id","state","created_at","id");--> statement-breakpoint
CREATE INDEX "users_role_login_page" ON "users" USING btree ("kind","role","login","id");--> statement-breakpoint
CREATE INDEX "users_role_created_page" ON "users" USING btree ("kind","role","created_at","id");--> statement-breakpoint
CREATE INDEX "invites_role_page" ON "invites" USING btree ("role","created_at","id");--> statement-breakpoint
CREATE INDEX "invites_creator_page" ON "invites" USING btree ("created_by","created_at","id");--> statement-breakpoint
CREATE INDEX "sessions_page" ON "sessions" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "identity_providers_name_page" ON "identity_providers" USING btree ("name","id");--> statement-breakpoint
CREATE INDEX "policy_versions_author_page" ON "policy_versions" USING btree ("network_id","author","version");
