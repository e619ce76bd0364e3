import { lstatSync, readlinkSync, realpathSync, symlinkSync } from "node:fs"
import { basename, dirname, isAbsolute, sep } from "node:path"
import type { Spot } from "../files/tree.ts"
import { onDisk, textOf } from "./byte-names.ts"
import { ownIdentity } from "./identity.ts"
import { isWithin } from "./seals.ts"

/** A link that has a name which no tool may write, as it was before a command. */
export interface KnownLink {
  readonly path: string
  readonly text: string
  /** What is at its end; undefined when nothing is. */
  readonly end: string | undefined
}

/** By the path of each, and by its name in the very folder it is in, wherever that has been moved. */
export type KnownLinks = ReadonlyMap<string, KnownLink>

/** Those of these paths that are links. A link cannot be held as it is while a command runs, so it is compared afterwards. */
export function readLinks(paths: readonly string[], roots: readonly string[]): KnownLinks {
  const links = new Map<string, KnownLink>()
  for (const path of paths) {
    const link = readLink(path, roots)
    if (typeof link === "object") links.set(path, link).set(inItsFolder(path), link)
  }
  return links
}

export function linkBefore(links: KnownLinks, path: string): KnownLink | undefined {
  return links.size === 0 ? undefined : (links.get(inItsFolder(path)) ?? links.get(path))
}

/**
 * Whether a link was here and something else is now, or the link leads to something else. One that was made again just as it
 * was is the same; one that is gone, or leads nowhere now, does no harm.
 */
export function isChanged(links: KnownLinks, path: string, roots: readonly string[]): boolean {
  const was = linkBefore(links, path)
  if (was === undefined) return false
  const now = readLink(path, roots)
  if (typeof now !== "object") return now === "no link"
  return now.text !== was.text || (now.end !== undefined && now.end !== was.end)
}

/**
 * Makes a link again where it was. False when it cannot be, or would lead to something else than it did: whoever has moved
 * what was at its end may have put something in its place.
 */
export function putBack({ text, end }: KnownLink, { folder, name }: Spot, roots: readonly string[]): boolean {
  try {
    if (endOf(isAbsolute(text) ? text : `${folder.self}/${text}`, roots) !== end) return false
    folder.sure()
    symlinkSync(onDisk(text), folder.at(name))
    return true
  } catch {
    return false
  }
}

/**
 * What is at the end of a path, links followed; undefined when nothing is. In the folders a command can write in, the real
 * path alone does not say it: a folder above may have been moved and another put in its place. A file may be written anew.
 */
function endOf(path: string, roots: readonly string[]): string | undefined {
  try {
    const real = textOf(realpathSync.native(onDisk(path), "buffer"))
    if (!roots.some((root) => isWithin(real, root))) return real
    const isFolder = lstatSync(onDisk(real)).isDirectory()
    return `${real}${sep}${ownIdentity(isFolder ? real : dirname(real))}${isFolder ? "" : " file"}`
  } catch {
    return undefined
  }
}

function readLink(path: string, roots: readonly string[]): KnownLink | "no link" | "nothing" {
  try {
    const text = textOf(readlinkSync(onDisk(path), "buffer"))
    return { path, text, end: endOf(path, roots) }
  } catch (error) {
    // What we are kept from by a mode is no link to us: whoever closed it may have had a reason.
    return ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "") ? "nothing" : "no link"
  }
}

const inItsFolder = (path: string) => `${ownIdentity(dirname(path))}/${basename(path)}`
