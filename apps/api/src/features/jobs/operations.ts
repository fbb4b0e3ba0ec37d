import type { HandlersOf } from "../../registry/handler.ts";
import type { jobsContract } from "./contract.ts";
import { cancelJob, getJob, getReport, listJobs } from "./read-jobs.ts";
import {
  debugPeer,
  profilePeer,
  startBundle,
  startMtuProbe,
  startPing,
  startProfile,
  startRestart,
  startThroughput,
  startTrace,
} from "./start-job.ts";

export const jobsOperations: HandlersOf<typeof jobsContract> = {
  list: listJobs,
  get: getJob,
  report: getReport,
  cancel: cancelJob,
  ping: startPing,
  trace: startTrace,
  mtuProbe: startMtuProbe,
  throughput: startThroughput,
  restart: startRestart,
  recordProfile: startProfile,
  collectBundle: startBundle,
  profile: profilePeer,
  debugBundle: debugPeer,
};
