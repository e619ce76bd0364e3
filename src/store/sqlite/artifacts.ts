import { open, rename, unlink } from "node:fs/promises"
import { join } from "node:path"
import { StoreUnavailable, failure } from "../../core/ending.ts"
import { newId } from "../../lib/new-id.ts"
import { errorMessage } from "../../lib/error-message.ts"
import type { Artifacts } from "../port.ts"
import { artifactLimit, type CallArtifacts, type StoredArtifact } from "../../core/tool.ts"
import { ensureFolder } from "../../lib/ensure-folder.ts"
import { moreSpace, retryWhileBusy, type Database } from "./database.ts"
import { readOwnFile } from "./data-file.ts"
import type { Tables } from "./tables.ts"

/** Artifacts: their description in a table, their bytes in one file each. */
export class FileArtifacts implements Artifacts {
  readonly #database: Database
  readonly #dir: string

  constructor(database: Database, dir: string) {
    this.#database = database
    this.#dir = dir
  }

  async put(artifact: Omit<StoredArtifact, "id" | "createdAt">): Promise<string> {
    const { content, type, mimeType, isBinary, meta, agentId, taskId = null, callId = null } = artifact
    if (content.byteLength > artifactLimit) {
      throw failure(
        `The artifact has ${content.byteLength} bytes, more than the ${artifactLimit} allowed. Store less of it.`,
        {
          toolCode: "artifact_too_large",
        },
      )
    }
    const id = newId()
    await this.#writeFile(id, content)
    const values = [type, mimeType, isBinary ? 1 : 0, JSON.stringify(meta ?? null), content.byteLength]
    try {
      await retryWhileBusy(() =>
        this.#database
          .prepare(
            `insert into artifacts (id, type, mime_type, is_binary, meta, size, agent_id, task_id, call_id, created_at)
             values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          )
          .run(id, ...values, agentId, taskId, callId, Date.now()),
      )
    } catch (error) {
      await unlink(join(this.#dir, id)).catch(() => {}) // A file without a row could never be found.
      throw error
    }
    return `artifact:${id}`
  }

  async get(ref: string): Promise<StoredArtifact | undefined> {
    const id = ref.replace(/^artifact:/, "")
    if (!/^[0-9a-f-]{36}$/.test(id)) return undefined
    const row = await retryWhileBusy(
      () => this.#database.prepare("select * from artifacts where id = ?").get(id) as Tables["artifacts"] | undefined,
    )
    if (row === undefined) return undefined
    return {
      id,
      type: row.type,
      content: await this.#readFile(id),
      mimeType: row.mime_type,
      isBinary: row.is_binary === 1,
      meta: row.meta === null ? null : JSON.parse(row.meta),
      createdAt: row.created_at,
      agentId: row.agent_id,
      taskId: row.task_id ?? undefined,
      callId: row.call_id ?? undefined,
    }
  }

  forCall({ agentId, taskId, callId, sharesWith }: Parameters<Artifacts["forCall"]>[0]): CallArtifacts {
    return {
      put: ({ type, content, mimeType, meta }) => {
        const isBinary = typeof content !== "string"
        const bytes = isBinary ? content : Buffer.from(content)
        const kind = mimeType ?? (isBinary ? "application/octet-stream" : "text/plain")
        return this.put({ type, content: bytes, mimeType: kind, isBinary, meta, agentId, taskId, callId })
      },
      get: async (ref) => {
        const found = await this.get(ref)
        if (found === undefined) return null
        if (found.agentId === agentId) return found
        const isShared = taskId !== undefined && found.taskId === taskId && sharesWith?.(found.agentId) === true
        return isShared ? found : null
      },
    }
  }

  async #readFile(id: string): Promise<Uint8Array> {
    try {
      return await readOwnFile(join(this.#dir, id))
    } catch (error) {
      throw unavailableBecause("The artifact cannot be read", error)
    }
  }

  /** Writes and syncs the file under a temporary name, then renames it. */
  async #writeFile(id: string, content: Uint8Array): Promise<void> {
    const file = join(this.#dir, id)
    const temporary = `${file}.part`
    try {
      ensureFolder(this.#dir)
      const handle = await open(temporary, "wx", 0o600)
      try {
        await handle.writeFile(content)
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(temporary, file)
    } catch (error) {
      await unlink(temporary).catch(() => {})
      throw unavailableBecause("The artifact cannot be written", error)
    }
  }
}

function unavailableBecause(sentence: string, error: unknown): StoreUnavailable {
  const what = errorMessage(error)
  return new StoreUnavailable(`${sentence} (${what}).${moreSpace(error)}`, { cause: error })
}
