import { createHash } from "node:crypto"
import { closeSync, openSync, readdirSync, readSync, rmSync, writeSync, type PathLike } from "node:fs"
import { basename, join } from "node:path"
import { openOwn, type Own } from "./own.ts"

/** Keeps a copy of an open file in the data folder, and of all copies of that path the newest `most`. */
export function keepBackup(own: Own, real: string, descriptor: number, most: number): string {
  const folder = openOwn(own, "backups", folderName(real))
  try {
    const earlier = readdirSync(folder.self).filter((name) => /^\d{8}-/.test(name)).sort() // prettier-ignore
    const number = Number(earlier.at(-1)?.slice(0, 8) ?? 0) + 1
    const name = `${String(number).padStart(8, "0")}-${new Date().toISOString().replaceAll(":", "")}`
    copyFrom(descriptor, folder.at(name))
    for (const old of earlier.slice(0, Math.max(0, earlier.length + 1 - most))) rmSync(folder.at(old), { force: true })
    return join(folder.real, name)
  } finally {
    folder.close()
  }
}

/** One folder for each path, with enough of its name for a person to find it. */
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
