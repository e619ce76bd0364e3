import type { Use } from "./paths-lists.ts"

/** Why something may not be done at a path. Both designs' words for what is outside are in its sentence. */
export interface Refusal {
  readonly code: "bad_path" | "outside" | "sealed"
  readonly source: string
  readonly sentence: string
}

export function badPath(path: string, fault: string): Refusal {
  return {
    code: "bad_path",
    source: "paths",
    sentence: `Access denied: ${quoted(path)} is no path that can be used, because ${fault}. Write it from the workspace, for example src/main.ts.`,
  }
}

export function outside(path: string, workspace: string): Refusal {
  return {
    code: "outside",
    source: "workspace",
    sentence: `Access denied: Path is outside workspace directory (${quoted(path)}). Use a path inside ${workspace}, or ask a person to add its folder to tools.allowedPaths.`,
  }
}

export function special(path: string): Refusal {
  return {
    code: "outside",
    source: "workspace",
    sentence: `Access denied: Path is outside workspace directory (${quoted(path)}): devices and what the system shows of itself are not read here.`,
  }
}

export function notGiven(path: string, allowedPaths: readonly string[]): Refusal {
  const given = allowedPaths.length === 0 ? "no path at all" : allowedPaths.map(quoted).join(", ")
  return {
    code: "outside",
    source: "allowedPaths of the call",
    sentence: `Access denied: Path is outside workspace directory as far as this call may use it (${quoted(path)}). It may use ${given}.`,
  }
}

export function isSealed(path: string, use: Use, because: string): Refusal {
  const may = use === "read" ? "reads" : "writes"
  return {
    code: "sealed",
    source: "sealed paths",
    sentence: `No tool ${may} ${quoted(path)}, because ${because}. A person has to do it.`,
  }
}

export function isProtected(path: string, source: string): Refusal {
  return { code: "sealed", source, sentence: `No tool writes ${quoted(path)}, because ${source} protects it.` }
}

/** A pipe, a socket or a device. */
export function notPlain(path: string): Refusal {
  return {
    code: "sealed",
    source: "special files",
    sentence: `${quoted(path)} is no file with a content of its own, so it is not opened. Name a plain file.`,
  }
}

export function hasOtherNames(path: string, names: number): Refusal {
  return {
    code: "sealed",
    source: "hard links",
    sentence: `${quoted(path)} has ${names} names, and a change would show under all of them. Write to another path, or ask a person.`,
  }
}

function quoted(path: string): string {
  const text = JSON.stringify(path).slice(1, -1)
  return `'${text.length > 300 ? `${text.slice(0, 300)}…` : text}'`
}
