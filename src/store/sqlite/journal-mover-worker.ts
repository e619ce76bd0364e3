import { parentPort, workerData } from "node:worker_threads"
import { recordKeyFromText } from "./record-key.ts"
import { isBusy, openDatabase } from "./database.ts"
import { moveBatch, removeMoved } from "./journal-mover.ts"
import { cell } from "./shared-cells.ts"

/** The data that the recorder passes to the thread that moves its journal. */
export interface MoverData {
  file: string
  dir: string
  key: string
  uuid: string
  cells: SharedArrayBuffer
}

const { file, dir, key, uuid, cells } = workerData as MoverData
const shared = new Int32Array(cells)
const journals = { database: await openDatabase(file), key: recordKeyFromText(key), dir }

/** Time for which lines gather before they are moved, unless there is a command or there are many lines. */
const gatherMs = 200
const manyLines = 4000

for (;;) {
  const written = Atomics.load(shared, cell.written)
  const command = Atomics.load(shared, cell.command)
  if (Atomics.load(shared, cell.moved) !== written) move()
  const idle = Atomics.load(shared, cell.moved) === Atomics.load(shared, cell.written)
  if (command !== 0 && idle) {
    Atomics.compareExchange(shared, cell.command, command, 0)
    parentPort?.postMessage("settled")
    if (command === 2) break
  }
  if (idle) {
    Atomics.store(shared, cell.asleep, 1)
    if (Atomics.load(shared, cell.written) === written && Atomics.load(shared, cell.command) === 0) {
      Atomics.wait(shared, cell.asleep, 1, 1000)
    }
    Atomics.store(shared, cell.asleep, 0)
  }
  for (
    let waited = 0;
    waited < gatherMs && lag() < manyLines && Atomics.load(shared, cell.command) === 0;
    waited += 20
  ) {
    Atomics.wait(shared, cell.command, 0, 20)
  }
}
journals.database.exec("pragma wal_checkpoint(passive)")
journals.database.close()

function lag(): number {
  return (Atomics.load(shared, cell.written) - Atomics.load(shared, cell.moved)) | 0
}

function move(): void {
  try {
    const { seq, more } = moveBatch(journals, uuid)
    Atomics.store(shared, cell.moved, seq | 0)
    if (!more) removeMoved(journals, uuid)
    Atomics.store(shared, cell.failed, 0)
  } catch (error) {
    if (isBusy(error)) return void Atomics.wait(shared, cell.command, 0, 5)
    const isGone = (error as NodeJS.ErrnoException).code === "ENOENT"
    if (Atomics.exchange(shared, cell.failed, isGone ? 2 : 1) === 0) parentPort?.postMessage({ error: String(error) })
    Atomics.wait(shared, cell.command, Atomics.load(shared, cell.command), 1000)
    if (Atomics.load(shared, cell.command) !== 0) {
      parentPort?.postMessage("stuck")
      if (Atomics.exchange(shared, cell.command, 0) === 2) process.exit()
    }
  }
}
