import { createHash } from "node:crypto"
import { closeSync, openSync, readdirSync, readSync, rmSync, writeSync, type PathLike } from "node:fs"
import { basename, join } from "node:path"
import { openInDataFolder, type DataFolderAccess } from "./data-folder.ts"

/** Copies an open file into the data folder and keeps the newest `keep` copies of that path. */
export function writeBackup(data: DataFolderAccess, real: string, descriptor: number, keep: number): string {
  const folder = openInDataFolder(data, "backups", folderName(real))
  try {
    const earlier = readdirSync(folder.self).filter((name) => /^\d{8}-/.test(name)).sort() // prettier-ignore
    const number = Number(earlier.at(-1)?.slice(0, 8) ?? 0) + 1
    const name = `${String(number).padStart(8, "0")}-${new Date().toISOString().replaceAll(":", "")}`
    copyFrom(descriptor, folder.at(name))
    for (const old of earlier.slice(0, Math.max(0, earlier.length + 1 - keep))) rmSync(folder.at(old), { force: true })
    return join(folder.real, name)
  } finally {
    folder.close()
  }
}

/** One folder per path. It begins with the file's name, so that a person can find it. */
function folderName(real: string): string {
  const digest = createHash("sha256").update(real).digest("hex").slice(0, 16)
  return `${basename(real).replaceAll(/[^\w.-]/g, "_").slice(0, 60)}-${digest}` // prettier-ignore
}

function copyFrom(descriptor: number, copy: PathLike): void {
  const buffer = Buffer.allocUnsafe(256 * 1024)
  const target = openSync(copy, "wx", 0o600)
  try {
    for (let position = 0; ;) {
      const count = readSync(descriptor, buffer, 0, buffer.length, position)
      if (count === 0) return
      for (let done = 0; done < count;) done += writeSync(target, buffer, done, count - done)
      position += count
    }
  } finally {
    closeSync(target)
  }
}
