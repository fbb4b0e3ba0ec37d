CREATE INDEX "peers_version_name_page" ON "peers" USING btree ("network_id","agent_version","name","id");--> statement-breakpoint
CREATE INDEX "peers_version_created_page" ON "peers" USING btree ("network_id","agent_version","created_at","id");
