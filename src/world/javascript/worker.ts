import { parentPort, workerData } from "node:worker_threads"
import { evaluate, type Job, type Told } from "./evaluate.ts"

// One run, one thread, one engine: what a script breaks is gone with it.
const tell = (told: Told) => parentPort?.postMessage(told)
tell(await evaluate(workerData as Job, () => tell("begins")))
