import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs" // prettier-ignore
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { expect, onTestFinished } from "vitest"
import { ToolFailure } from "../../model/ending.ts"
import type { Files, Trash } from "../../model/files.ts"
import { temporaryFolder } from "../../testing/open.ts"
import { openFence, openTrash, type FenceOptions } from "./fence.ts"

export interface Place {
  readonly files: Files
  readonly trash: Trash
  readonly workspace: string
  readonly outside: string
  readonly dataFolder: string
  /** Puts a file into the workspace by hand, or a link with `-> target`. */
  put(path: string, content?: string | Uint8Array): string
  read(path: string): string
}

/** A workspace with a fence, a folder outside with a secret, and a data folder beside it. */
export function place(options: Partial<FenceOptions> = {}): Place {
  const dir = realpathSync(temporaryFolder())
  const [workspace, outside, data] = ["ws", "outside", "data"].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ]
  const dataFolder = options.dataFolder ?? data
  for (const folder of [workspace, outside, dataFolder]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(outside, "secret.txt"), "SECRET")
  const all: FenceOptions = { workspace, ...options, dataFolder }
  return {
    files: openFence(all),
    trash: openTrash(all),
    workspace,
    outside,
    dataFolder,
    put(path, content = "text") {
      const target = join(workspace, path)
      mkdirSync(dirname(target), { recursive: true })
      if (typeof content === "string" && content.startsWith("-> ")) symlinkSync(content.slice(3), target)
      else writeFileSync(target, content)
      return target
    },
    read: (path) => readFileSync(join(workspace, path), "utf8"),
  }
}

/** The code of the refusal that the work ends with. */
export async function refusal(work: () => unknown): Promise<string | undefined> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error
    expect(error.message).toMatch(/[.!]$/)
    return error.toolCode
  }
  return "nothing was refused"
}

/** Everything in a folder, with what it is and its content, to compare before and after. */
export function inventory(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  if (!existsSync(folder)) return found
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name)
    const stat = lstatSync(path)
    if (stat.isDirectory()) {
      found[`${name}/`] = ""
      for (const [inner, content] of Object.entries(inventory(path))) found[`${name}/${inner}`] = content
    } else if (stat.isSymbolicLink()) found[name] = `-> ${readlinkSync(path)}`
    else found[name] = stat.isFile() ? readFileSync(path, "utf8") : "special"
  }
  return found
}

export function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length
}

/** A folder of its own for one test, in memory where there is such a disk: for tests that do very much. */
export function folderInMemory(): string {
  const dir = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "qm-test-"))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return realpathSync(dir)
}

export const bytes = (text: string): Buffer => Buffer.from(text)
