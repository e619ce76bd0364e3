import { createHash } from "node:crypto"
import { open, readdir, readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { z } from "zod"
import { StoreUnavailable } from "../../core/ending.ts"
import { ensureFolder } from "../../lib/ensure-folder.ts"

export const databaseName = "quartermaster.db"
export const keyName = "record.key"
const manifestName = "backup.json"

/** A file of a backup, by its path inside the data folder. */
export interface BackedUpFile {
  name: string
  size: number
  sha256: string
}

const relativePath = /^(?!\.{1,2}(?:\/|$))[^/\\\0]+(?:\/(?!\.{1,2}(?:\/|$))[^/\\\0]+)*$/

const manifestSchema = z.strictObject({
  format: z.literal(1),
  madeAt: z.number(),
  storeVersion: z.number().int(),
  /** The checkpoint hash of the audit log when the backup began. The restored log must contain it. */
  head: z.string(),
  files: z.array(
    z.strictObject({
      name: z.string().regex(relativePath),
      size: z.number().int().nonnegative(),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
})
export type Manifest = z.infer<typeof manifestSchema>

/** Written last: a folder without a manifest is not a complete backup. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  await writeSynced(join(folder, manifestName), [Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)])
}

export async function readManifest(folder: string): Promise<Manifest> {
  const file = join(folder, manifestName)
  try {
    return manifestSchema.parse(JSON.parse(await readFile(file, "utf8")))
  } catch (error) {
    const what =
      (error as NodeJS.ErrnoException).code === "ENOENT" ? "It has no backup.json" : "Its backup.json cannot be read"
    throw new StoreUnavailable(`${folder} is not a complete backup. ${what}; give the folder that 'qm backup' wrote.`, {
      cause: error,
    })
  }
}

/** Creates an empty file that only its owner can read. */
export async function createEmptyPrivateFile(file: string): Promise<void> {
  await (await open(file, "wx", 0o600)).close()
}

/** Copies and syncs one file that only its owner can read. Returns the size and digest of the copy. */
export async function copyFile(from: string, to: string): Promise<{ size: number; sha256: string }> {
  ensureFolder(dirname(to))
  const source = await open(from, "r")
  try {
    return await writeSynced(to, source.createReadStream({ highWaterMark: 1024 * 1024, autoClose: false }))
  } finally {
    await source.close()
  }
}

async function writeSynced(
  file: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<{ size: number; sha256: string }> {
  const hash = createHash("sha256")
  let size = 0
  const handle = await open(file, "wx", 0o600)
  try {
    for await (const piece of pieces) {
      await handle.writeFile(piece)
      hash.update(piece)
      size += piece.byteLength
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
  return { size, sha256: hash.digest("hex") }
}

export async function syncAndDigest(file: string): Promise<{ size: number; sha256: string }> {
  const hash = createHash("sha256")
  let size = 0
  const handle = await open(file, "r+")
  try {
    for await (const piece of handle.createReadStream({ highWaterMark: 1024 * 1024, autoClose: false })) {
      hash.update(piece as Uint8Array)
      size += (piece as Uint8Array).byteLength
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
  return { size, sha256: hash.digest("hex") }
}

/** Syncs the names in a folder to the disk. Not every system supports it. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}

/** Reports whether the folder is empty or does not exist. */
export async function isEmptyOrMissing(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return true
    throw error
  }
}
