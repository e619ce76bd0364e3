import { lstatSync, type Stats } from "node:fs"
import type { Finding, Guard, GuardResult } from "../../core/guard.ts"
import { isPath, type Touch } from "../../core/touches.ts"
import type { PathPolicy } from "./path-policy.ts"
import type { FileAccess } from "./path-lists.ts"
import { hardLinked, linkToConfirmedPath, notRegularFile, unresolvable, type PathRefusal } from "./path-refusals.ts"
import { listTree } from "../list-tree.ts"
import { asks, denies } from "./path-findings.ts"

/**
 * Judges the files a call touches: inside the file roots, protected or confirmed. A link is judged by its own name and by
 * where it leads. It never allows: what runs unasked is said by rules. `platform/files` checks again when the file is
 * opened.
 */
export function pathGuard(configured: PathPolicy): Guard {
  return {
    check(touches, { allowedPaths }) {
      const policy = configured.within(allowedPaths)
      const results: TouchResult[] = []
      for (const touch of touches) {
        if (!isPath(touch.kind)) continue
        results.push(checkTouch(touch, policy))
        if (touch.kind === "write") results.push(...checkFolderContent(touch, policy))
      }
      return combine(results)
    },
  }
}

interface TouchResult {
  /** The real path of a link, or a file inside a folder that is moved or deleted. */
  readonly extra?: Touch
  readonly finding?: Finding
}

const nothing: GuardResult = { extraTouches: [], proved: true, findings: [] }

function combine(results: readonly TouchResult[]): GuardResult {
  if (results.length === 0) return nothing
  return {
    extraTouches: results.flatMap(({ extra }) => extra ?? []),
    proved: true,
    findings: results.flatMap(({ finding }) => finding ?? []),
  }
}

function checkTouch({ kind, what, opens = false }: Touch, policy: PathPolicy): TouchResult {
  const use = kind as FileAccess
  const absolute = policy.resolve(what)
  if (typeof absolute !== "string") return { finding: denies(absolute, what) }
  const real = policy.realpath(absolute)
  if (real === undefined) return { finding: denies(unresolvable(what), what) }
  const extra = real === absolute ? undefined : { kind, what: policy.displayPath(real) }
  const refusal =
    policy.refusal(real, use, what) ??
    (extra && policy.protectedRefusal(absolute, use, what)) ??
    (opens ? fileRefusal(real, use, what) : undefined)
  if (refusal !== undefined) return { extra, finding: denies(refusal, what) }
  const because = policy.confirmedBecause(absolute, use)
  if (because !== undefined) return { extra, finding: asks(what, use, because) }
  const targetBecause = extra && policy.confirmedBecause(real, use)
  if (targetBecause !== undefined)
    return { extra, finding: denies(linkToConfirmedPath(what, extra!.what, targetBecause), what) }
  return { extra }
}

/** Moving or deleting a folder does the same to everything in it. */
function checkFolderContent({ what }: Touch, policy: PathPolicy): TouchResult[] {
  const absolute = policy.resolve(what)
  if (typeof absolute !== "string" || !isFolder(absolute)) return []
  const tree = listTree(absolute)
  if (tree === undefined) return [{ finding: folderTooLarge(what) }]
  return tree.map((path) => {
    const extra: Touch = { kind: "write", what: policy.displayPath(path), derived: true }
    const refusal = policy.refusal(path, "write", extra.what)
    if (refusal !== undefined) return { extra, finding: denies(refusal, extra.what) }
    const because = policy.confirmedBecause(path, "write")
    return because === undefined ? { extra } : { extra, finding: asks(extra.what, "write", because) }
  })
}

function isFolder(absolute: string): boolean {
  return entryAt(absolute)?.isDirectory() === true
}

/** Opening a pipe or device waits or acts; writing a hard link changes a file under a name that was not checked. */
function fileRefusal(real: string, use: FileAccess, what: string): PathRefusal | undefined {
  const found = entryAt(real)
  if (found === undefined || found.isDirectory()) return undefined
  if (!found.isFile()) return notRegularFile(what)
  return use === "write" && found.nlink > 1 ? hardLinked(what, found.nlink) : undefined
}

function entryAt(absolute: string): Stats | undefined {
  try {
    return lstatSync(absolute, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

function folderTooLarge(what: string): Finding {
  const sentence = `'${what}' has too many files to check each, so a person is asked. Name smaller folders to be asked less often.`
  return {
    verdict: "ask",
    reason: {
      check: "guard",
      source: "folders",
      code: "folder_too_large",
      params: { path: what },
      sentence,
      binding: true,
    },
  }
}
