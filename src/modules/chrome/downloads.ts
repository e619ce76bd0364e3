import { readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { extname, join } from "node:path"
import type { Download } from "playwright-core"
import type { Files } from "../../platform/files/file-access.ts"
import type { ChromeSettings } from "./settings.ts"

/** A download of a tab, and whether it has ended. */
export interface TabDownload {
  readonly download: Download
  readonly ended: Promise<unknown>
  isEnded: boolean
}

export interface SavedDownload {
  readonly path?: string
  readonly name: string
  readonly bytes?: number
  readonly problem?: string
}

/** Watches a download, and ends it when the folder of all downloads becomes larger than is allowed. */
export function watchDownload(download: Download, folder: string, maxBytes: number): TabDownload {
  const timer = setInterval(() => {
    if (sizeOf(folder) > maxBytes) void download.cancel().catch(() => {})
  }, 500).unref()
  const end = () => {
    clearInterval(timer)
    watched.isEnded = true
  }
  const watched: TabDownload = { download, isEnded: false, ended: download.failure().then(end, end) }
  return watched
}

function sizeOf(folder: string): number {
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Writes an ended download into the workspace, under a name that is free. */
export async function saveDownload(
  { download }: TabDownload,
  files: Files,
  { downloads: folder, maxDownloadMb }: ChromeSettings,
): Promise<SavedDownload> {
  const name = safeName(download.suggestedFilename())
  const problem = await download.failure().catch(() => "it was lost")
  if (problem !== null) return { name, problem: `The download failed: ${problem}.` }
  const stored = await download.path()
  try {
    if (statSync(stored).size > maxDownloadMb * 1024 * 1024)
      return { name, problem: `It is larger than ${maxDownloadMb} MB, which maxDownloadMb allows.` }
    return { name, ...(await writeFree(files, String(folder), name, readFileSync(stored))) }
  } catch (error) {
    return { name, problem: error instanceof Error ? error.message : String(error) }
  } finally {
    rmSync(stored, { force: true })
  }
}

async function writeFree(files: Files, folder: string, name: string, bytes: Uint8Array) {
  const ending = extname(name)
  const stem = name.slice(0, name.length - ending.length)
  for (let number = 1; ; number++) {
    const path = `${folder}/${number === 1 ? name : `${stem}-${number}${ending}`}`
    try {
      await files.write(path, bytes, { expected: null })
      return { path, bytes: bytes.length }
    } catch (error) {
      const isTaken = ["file_changed", "exists"].includes((error as { toolCode?: string }).toolCode ?? "")
      if (!isTaken || number === 100) throw error
    }
  }
}

/** A plain file name: no folders, nothing hidden, nothing that a shell or a file system reads in another way. */
function safeName(suggested: string): string {
  const name = suggested
    .replace(/[^\p{L}\p{N}._ -]/gu, "_")
    .slice(-120)
    .replace(/^[._\s-]+/, "")
    .trim()
  return name === "" ? "download" : name
}
