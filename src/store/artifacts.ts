import { open, rename, unlink } from "node:fs/promises"
import { join } from "node:path"
import { StoreUnavailable, failure } from "../model/ending.ts"
import { newId } from "../model/identity.ts"
import { messageOf } from "../model/message.ts"
import type { Artifacts } from "../model/ports.ts"
import { artifactLimit, type ArtifactShelf, type StoredArtifact } from "../model/tool.ts"
import { ensureFolder } from "./folder.ts"
import { whenFree, type Database } from "./database.ts"
import { readPlainLater } from "./plain-file.ts"
import type { Tables } from "./tables.ts"

/** Artifacts: what they are in the table, their bytes in files of their own. */
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
      await whenFree(() =>
        this.#database
          .prepare(
            `insert into artifacts (id, type, mime_type, is_binary, meta, size, agent_id, task_id, call_id, created_at)
             values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          )
          .run(id, ...values, agentId, taskId, callId, Date.now()),
      )
    } catch (error) {
      await unlink(join(this.#dir, id)).catch(() => {}) // Without a row nobody would find it.
      throw error
    }
    return `artifact:${id}`
  }

  async get(ref: string): Promise<StoredArtifact | undefined> {
    const id = ref.replace(/^artifact:/, "")
    if (!/^[0-9a-f-]{36}$/.test(id)) return undefined
    const row = await whenFree(
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

  shelf({ agentId, taskId, callId }: { agentId: string; taskId?: string | undefined; callId: string }): ArtifactShelf {
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
        const mine = found.agentId === agentId || (taskId !== undefined && found.taskId === taskId)
        return mine ? found : null
      },
    }
  }

  async #readFile(id: string): Promise<Uint8Array> {
    try {
      return await readPlainLater(join(this.#dir, id))
    } catch (error) {
      throw unavailableBecause("The artifact cannot be read", error)
    }
  }

  /** Under a temporary name until it is whole and on the disk. */
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
  const what = messageOf(error)
  return new StoreUnavailable(`${sentence} (${what}).`, { cause: error })
}
