CREATE INDEX "audit_events_action_page" ON "audit_events" USING btree ("action","at","id");--> statement-breakpoint
CREATE INDEX "audit_events_actor_kind_page" ON "audit_events" USING btree ("actor_kind","at","id");--> statement-breakpoint
CREATE INDEX "audit_events_actor_page" ON "audit_events" USING btree ("actor_id","at","id");--> statement-breakpoint
CREATE INDEX "audit_events_object_page" ON "audit_events" USING btree ("object_id","at","id");--> statement-breakpoint
CREATE INDEX "audit_events_network_page" ON "audit_events" USING btree ("network_id","at","id");--> statement-breakpoint
CREATE INDEX "audit_events_request_page" ON "audit_events" USING btree ("request_id","at","id");--> statement-breakpoint
CREATE INDEX "enrolment_keys_expiry_page" ON "enrolment_keys" USING btree ("network_id","expires_at","id");--> statement-breakpoint
CREATE INDEX "enrolment_keys_creator_page" ON "enrolment_keys" USING btree ("network_id","created_by","created_at","id");--> statement-breakpoint
CREATE INDEX "enrolment_keys_creator_expiry_page" ON "enrolment_keys" USING btree ("network_id","created_by","expires_at","id");--> statement-breakpoint
CREATE INDEX "peers_name_page" ON "peers" USING btree ("network_id","name","id");--> statement-breakpoint
CREATE INDEX "peers_state_name_page" ON "peers" USING btree ("network_id","state","name","id");--> statement-breakpoint
CREATE INDEX "peers_state_created_page" ON "peers" USING btree ("network_id","state","created_at","id");--> statement-breakpoint
CREATE INDEX "rules_state_page" ON "rules" USING btree ("network_id","state","place","created_at","id");--> statement-breakpoint
CREATE INDEX "rules_action_page" ON "rules" USING btree ("network_id","action","place","created_at","id");--> statement-breakpoint
CREATE INDEX "tokens_name_page" ON "tokens" USING btree ("name","id");--> statement-breakpoint
CREATE INDEX "tokens_user_name_page" ON "tokens" USING btree ("user_id","name","id");
