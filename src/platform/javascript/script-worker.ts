import { parentPort, workerData } from "node:worker_threads"
import { evaluate, type ScriptJob, type ScriptMessage } from "./evaluate.ts"

// One thread and one engine per script, so that a broken engine affects no other script.
const post = (message: ScriptMessage) => parentPort?.postMessage(message)
post(await evaluate(workerData as ScriptJob, () => post("begins")))
