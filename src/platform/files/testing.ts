import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs" // prettier-ignore
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { expect, onTestFinished } from "vitest"
import { ToolFailure } from "../../core/ending.ts"
import type { Files, Trash } from "./file-access.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { openFiles, openTrash, type FilesOptions } from "./files.ts"

export interface TestFiles {
  readonly files: Files
  readonly trash: Trash
  readonly workspace: string
  readonly outside: string
  readonly dataFolder: string
  /** Writes a file into the workspace, or a link with `-> target`. */
  put(path: string, content?: string | Uint8Array): string
  read(path: string): string
}

/** A workspace, a folder outside it with a secret, and a data folder beside it. */
export function openTestFiles(options: Partial<FilesOptions> = {}): TestFiles {
  const dir = realpathSync(temporaryFolder())
  const [workspace, outside, data] = ["ws", "outside", "data"].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ]
  const dataFolder = options.dataFolder ?? data
  for (const folder of [workspace, outside, dataFolder]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(outside, "secret.txt"), "SECRET")
  const all: FilesOptions = { workspace, ...options, dataFolder }
  return {
    files: openFiles(all),
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

/** The tool code of the failure that the work throws. */
export async function refusalCode(work: () => unknown): Promise<string | undefined> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error
    expect(error.message).toMatch(/[.!]$/)
    return error.toolCode
  }
  return "nothing was refused"
}

/** Everything in a folder with its kind and content, to compare before and after. */
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

/** Counts the descriptors this process has open, below that folder or in all. */
export function countDescriptorsBelow(within = ""): number {
  return readdirSync("/proc/self/fd").filter((name) => leadsInto(within, join("/proc/self/fd", name))).length
}

function leadsInto(folder: string, link: string): boolean {
  try {
    return readlinkSync(link).startsWith(folder)
  } catch {
    return false
  }
}

/** A temporary folder for one test, in memory if possible: for tests that write a lot. */
export function folderInMemory(): string {
  const dir = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "qm-test-"))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return realpathSync(dir)
}

export const bytes = (text: string): Buffer => Buffer.from(text)
