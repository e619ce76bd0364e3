import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { errorMessage } from "../../lib/error-message.ts"
import { failure } from "../../core/ending.ts"
import type { Logger } from "../../core/logger.ts"
import { openRepository, type SnapshotRepository } from "./git.ts"
import { changesBetween, hashNow, readContent, takeSnapshot, type FileChange } from "./snapshots.ts"

/** The changes of a call, so that it can be undone. */
export interface UndoRecord {
  readonly callId: string
  readonly workspace: string
  /** The repository that has the contents. */
  readonly repository: string
  readonly at: number
  readonly changes: readonly FileChange[]
}

export interface Undo {
  /**
   * Takes a snapshot before a call changes files. Resolves after 300 ms at the latest; what is not ready by then is no
   * snapshot, and the call cannot be undone.
   */
  before(callId: string): Promise<void>
  /** Stores what the call changed, and returns these files. `only` names those that it can have changed at most. */
  after(callId: string, only?: readonly string[]): Promise<readonly string[]>
  /** Throws a sentence for a call that cannot be undone. */
  find(callId: string): UndoRecord
  /** The content of a file before the call. */
  contentBefore(record: UndoRecord, change: FileChange): Promise<Buffer>
  /** The files that are not as the call left them. */
  changedSince(record: UndoRecord): string[]
  /** Erases what is older than a week. */
  sweep(): void
  /** Resolves when no snapshot is being taken. */
  close(): Promise<void>
}

export interface UndoOptions {
  readonly workspace: string
  readonly dataDir: string
  /** Reports whether snapshots may have the file: secrets and our own files are left out. */
  isKept(path: string): boolean
  /** The most milliseconds that a call waits for its snapshot; 300 if left out. */
  readonly waitMs?: number
  readonly logger: Logger
  now(): number
}

const keepMs = 7 * 24 * 60 * 60 * 1000

export function openUndo({ workspace, dataDir, isKept, waitMs = 300, logger, now }: UndoOptions): Undo {
  const folder = join(dataDir, "undo")
  let last: Promise<unknown> = Promise.resolve()

  /** One at a time, because all use one index. */
  function snapshot(): Promise<string | undefined> {
    const work = last.then(() => takeSnapshot(repository(), isKept))
    const settled = work.catch((error: unknown) => {
      logger.warn(`The workspace could not be noted for undo: ${errorMessage(error)}`)
      return undefined
    })
    last = settled
    return settled
  }

  /** A new repository each week, so that old contents are erased with their folder. */
  function repository(): SnapshotRepository {
    const name = createHash("sha256").update(workspace).digest("hex").slice(0, 16)
    return openRepository(join(folder, `${name}-${Math.floor(now() / keepMs)}.git`), workspace)
  }

  const recordFile = (callId: string) => join(folder, `${callId}.json`)
  /** The snapshot before a call, for whichever process hears of its end. */
  const beforeFile = (callId: string) => join(folder, `${callId}.before`)

  return {
    async before(callId) {
      // A workspace without git has nothing to compare with, and a snapshot of all of it would be no small thing.
      if (!existsSync(join(workspace, ".git"))) return
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), waitMs)))
      const tree = await Promise.race([snapshot(), late])
      clearTimeout(timer)
      if (tree !== undefined) writeFileSync(beforeFile(callId), tree, { mode: 0o600 })
      else logger.info(`Call ${callId} cannot be undone: its workspace could not be noted within ${waitMs} ms.`)
    },

    async after(callId, only) {
      const noted = beforeFile(callId)
      if (!existsSync(noted)) return []
      const before = readFileSync(noted, "utf8")
      rmSync(noted, { force: true })
      const after = await snapshot()
      if (after === undefined) return []
      const found = repository()
      const all = await changesBetween(found, before, after)
      const changes = only === undefined ? all : all.filter(({ path }) => only.includes(path))
      if (changes.length === 0) return []
      const record: UndoRecord = { callId, workspace, repository: found.folder, at: now(), changes }
      writeFileSync(recordFile(callId), JSON.stringify(record), { mode: 0o600 })
      return changes.map(({ path }) => path)
    },

    find(callId) {
      const file = /^[\w-]+$/.test(callId) ? recordFile(callId) : ""
      if (!existsSync(file)) throw failure(nothingToUndo(callId), { toolCode: "nothing_to_undo" })
      const record = JSON.parse(readFileSync(file, "utf8")) as UndoRecord
      if (record.workspace === workspace) return record
      throw failure(`Call ${callId} changed files in ${record.workspace}. Undo it there: qm -C ${record.workspace} undo ${callId}`) // prettier-ignore
    },

    contentBefore: ({ repository: of }, { before }) =>
      before === undefined ? Promise.resolve(Buffer.alloc(0)) : readContent({ folder: of, workspace }, before),

    changedSince: ({ changes }) =>
      changes.filter(({ path, after }) => hashNow(workspace, path) !== after?.hash).map(({ path }) => path),

    sweep() {
      const at = now()
      if (!existsSync(folder)) return
      for (const name of readdirSync(folder)) {
        const path = join(folder, name)
        // A repository is used for a week, and for one more by the records of that time.
        const oldest = at - (name.endsWith(".git") ? 2 * keepMs : keepMs)
        if (statSync(path).mtimeMs < oldest) rmSync(path, { recursive: true, force: true })
      }
    },

    close: async () => void (await last),
  }
}

function nothingToUndo(callId: string): string {
  return `There is nothing to undo for call '${callId}'. Calls that ran without being asked about can be undone for a week, where they changed files that git does not ignore, in a workspace with git.`
}
