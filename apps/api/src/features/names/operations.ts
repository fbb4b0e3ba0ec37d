import type { HandlersOf } from "../../registry/handler.ts";
import type { nameRecordsContract, nameserversContract, nameSettingsContract } from "./contract.ts";
import { createRecord, getRecord, listRecords, removeRecord, updateRecord } from "./name-records.ts";
import { getSettings, replaceSettings } from "./name-settings.ts";
import {
  createNameservers,
  getNameservers,
  listNameservers,
  removeNameservers,
  updateNameservers,
} from "./nameservers.ts";

export const nameSettingsOperations: HandlersOf<typeof nameSettingsContract> = {
  get: getSettings,
  replace: replaceSettings,
};

export const nameRecordsOperations: HandlersOf<typeof nameRecordsContract> = {
  list: listRecords,
  get: getRecord,
  create: createRecord,
  update: updateRecord,
  remove: removeRecord,
};

export const nameserversOperations: HandlersOf<typeof nameserversContract> = {
  list: listNameservers,
  get: getNameservers,
  create: createNameservers,
  update: updateNameservers,
  remove: removeNameservers,
};
