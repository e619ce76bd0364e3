import { lstatSync, type Stats } from "node:fs"
import type { Finding, Guard, GuardLook } from "../model/guard.ts"
import type { Reason } from "../model/record.ts"
import type { Touch } from "../model/rule.ts"
import { readGround, type Ground, type GroundOptions } from "./paths-ground.ts"
import type { Use } from "./paths-lists.ts"
import { hasOtherNames, notPlain, type Refusal } from "./paths-refusals.ts"
import { isPath } from "./places.ts"
import { treeOf } from "./tree.ts"

/**
 * Looks at the files a call touches: where each really is, and what is sealed or careful there. Both what a link is
 * called and where it leads count. The fence looks again when the file is opened.
 */
export function pathGuard(options: GroundOptions): Guard {
  const whole = readGround(options)
  return {
    look(touches, { allowedPaths }) {
      const ground = whole.within(allowedPaths)
      const seen: Seen[] = []
      for (const touch of touches) {
        if (!isPath(touch.kind)) continue
        seen.push(lookAt(touch, ground))
        if (touch.kind === "write") seen.push(...lookInside(touch, ground))
      }
      return together(seen)
    },
  }
}

interface Seen {
  readonly more?: Touch | undefined
  readonly finding?: Finding | undefined
  /** The line that lets it be used without asking. */
  readonly line?: string | undefined
}

const nothing: GuardLook = { more: [], proved: true, findings: [] }

function together(seen: readonly Seen[]): GuardLook {
  if (seen.length === 0) return nothing
  return {
    more: seen.flatMap(({ more }) => more ?? []),
    proved: true,
    findings: seen.flatMap(({ finding }) => finding ?? []),
    covers: seen.every(({ finding, line }) => finding === undefined && line !== undefined) ? covering(seen) : undefined,
  }
}

function covering(seen: readonly Seen[]): Reason {
  const source = [...new Set(seen.map(({ line }) => line))].join(", ")
  return { voice: "guard", source, sentence: `Every file it touches is in a folder that ${source} lets it use.` }
}

function lookAt({ kind, what, opens = false }: Touch, ground: Ground): Seen {
  const use = kind as Use
  const place = ground.place(what)
  if (typeof place !== "string") return { finding: denies(place) }
  const real = ground.realpath(place)
  if (real === undefined) return { finding: denies(unknown(what)) }
  const more = real === place ? undefined : { kind, what: ground.shown(real) }
  const refusal =
    ground.refusal(real, use, what) ??
    (more && ground.sealing(place, use, what)) ??
    (opens ? oddFile(real, use, what) : undefined)
  if (refusal !== undefined) return { more, finding: denies(refusal) }
  const because = ground.careful(place, use)
  if (because !== undefined) return { more, finding: asks(what, use, because) }
  const behind = more && ground.careful(real, use)
  if (behind !== undefined) return { more, finding: denies(hiddenCareful(what, more!.what, behind)) }
  return { more, line: ground.coveredBy(real) }
}

/** Whoever moves or deletes a folder does so to all that is in it. */
function lookInside({ what }: Touch, ground: Ground): Seen[] {
  const place = ground.place(what)
  if (typeof place !== "string" || !isFolder(place)) return []
  const tree = treeOf(place, true)
  if (tree === undefined) return [{ finding: tooMuch(what) }]
  return tree.map((path) => {
    const more: Touch = { kind: "write", what: ground.shown(path), derived: true }
    const refusal = ground.refusal(path, "write", more.what)
    if (refusal !== undefined) return { more, finding: denies(refusal) }
    const because = ground.careful(path, "write")
    return because === undefined
      ? { more, line: ground.coveredBy(path) }
      : { more, finding: asks(more.what, "write", because) }
  })
}

function isFolder(place: string): boolean {
  return entryAt(place)?.isDirectory() === true
}

/** What waits or acts when it is opened, and what would be changed under a name that nobody looked at. */
function oddFile(real: string, use: Use, what: string): Refusal | undefined {
  const found = entryAt(real)
  if (found === undefined || found.isDirectory()) return undefined
  if (!found.isFile()) return notPlain(what)
  return use === "write" && found.nlink > 1 ? hasOtherNames(what, found.nlink) : undefined
}

function entryAt(place: string): Stats | undefined {
  try {
    return lstatSync(place, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

function tooMuch(what: string): Finding {
  const sentence = `There is too much in '${what}' to look at, so a person does. Name smaller folders to be asked less.`
  return { says: "ask", reason: { voice: "guard", source: "folders", sentence, binding: true } }
}

/** A link to what a person is asked about must not get another name for it. */
export function hiddenCareful(path: string, real: string, because: string): Refusal {
  return {
    code: "sealed",
    source: "careful paths",
    sentence: `'${path}' leads to '${real}', where a person is asked each time, because ${because}. Call again with '${real}' itself.`,
  }
}

function asks(what: string, use: Use, because: string): Finding {
  const verb = use === "read" ? "Reading" : "Writing"
  const sentence = `${verb} '${what}' is asked for each time, because ${because}.`
  return { says: "ask", reason: { voice: "guard", source: "careful paths", sentence, binding: true } }
}

function denies({ code, source, sentence }: Refusal): Finding {
  const ending = code === "sealed" ? "permission_denied" : "path_outside_workspace"
  return { says: "deny", reason: { voice: "guard", source, sentence }, code: ending }
}

function unknown(what: string): Refusal {
  return {
    code: "outside",
    source: "workspace",
    sentence: `Access denied: it cannot be said where '${what}' leads, so it counts as if: Path is outside workspace directory. Look at the links and folders on the way.`,
  }
}
