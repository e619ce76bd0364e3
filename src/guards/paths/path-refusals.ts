import type { FileAccess } from "./path-lists.ts"

/** Why a path may not be used. The sentence for paths outside has the wording of both source designs. */
export interface PathRefusal {
  readonly code: "bad_path" | "outside" | "sealed"
  /** The code of the reason in the verdict. */
  readonly reason: string
  readonly source: string
  readonly sentence: string
  /** Of a protected path: why it is protected. */
  readonly because?: string
}

export function badPath(path: string, fault: string): PathRefusal {
  return {
    code: "bad_path",
    reason: "path_unusable",
    source: "paths",
    sentence: `Access denied: ${quoted(path)} cannot be used as a path, because ${fault}. Write it relative to the workspace, for example src/main.ts.`,
  }
}

export function outsideWorkspace(path: string, workspace: string): PathRefusal {
  return {
    code: "outside",
    reason: "path_outside_workspace",
    source: "workspace",
    sentence: `Access denied: Path is outside workspace directory (${quoted(path)}). Use a path inside ${workspace}, or ask a person to add its folder to tools.allowedPaths.`,
  }
}

export function outsideAllowedPaths(path: string, allowedPaths: readonly string[]): PathRefusal {
  const usable = allowedPaths.length === 0 ? "" : ` Use a path in ${allowedPaths.map(quoted).join(", ")}, or`
  return {
    code: "outside",
    reason: "path_not_allowed",
    source: "tools.allowedPaths",
    sentence: `Access denied: Path is outside workspace directory as far as tools.allowedPaths opens it (${quoted(path)}).${usable || " No path is open:"} ask a person to add its folder to tools.allowedPaths.`,
  }
}

export function systemPath(path: string): PathRefusal {
  return {
    code: "outside",
    reason: "path_of_system",
    source: "workspace",
    sentence: `Access denied: Path is outside workspace directory (${quoted(path)}): devices and kernel files are not available to tools.`,
  }
}

export function outsideCallPaths(path: string, allowedPaths: readonly string[]): PathRefusal {
  const usable = allowedPaths.length === 0 ? "no path at all" : allowedPaths.map(quoted).join(", ")
  return {
    code: "outside",
    reason: "path_not_given",
    source: "allowedPaths of the call",
    sentence: `Access denied: Path is outside workspace directory as far as this call may use it (${quoted(path)}). It may use ${usable}.`,
  }
}

export function protectedPath(path: string, use: FileAccess, because: string): PathRefusal {
  const verb = use === "read" ? "reads" : "writes"
  return {
    code: "sealed",
    reason: "path_protected",
    source: "protected paths",
    sentence: `No tool ${verb} ${quoted(path)}, because ${because}. A person has to do it.`,
    because,
  }
}

export function protectedByConfig(path: string, source: string): PathRefusal {
  return {
    code: "sealed",
    reason: "path_protected",
    source,
    sentence: `No tool writes ${quoted(path)}, because ${source} protects it.`,
    because: `${source} protects it`,
  }
}

/** A link must not be a second name under which a confirmed path is used without asking. */
export function linkToConfirmedPath(path: string, real: string, because: string): PathRefusal {
  return {
    code: "sealed",
    reason: "path_leads_to_confirmed",
    source: "confirmed paths",
    sentence: `'${path}' leads to '${real}', which a person confirms each time, because ${because}. Call again with '${real}' itself.`,
  }
}

/** A pipe, a socket or a device. */
export function notRegularFile(path: string): PathRefusal {
  return {
    code: "sealed",
    reason: "path_not_plain",
    source: "special files",
    sentence: `${quoted(path)} is not a regular file, so it is not opened. Name a regular file.`,
  }
}

/** A file with several names: the other names may be outside the workspace. */
export function hardLinked(path: string, names: number): PathRefusal {
  return {
    code: "sealed",
    reason: "path_hard_linked",
    source: "hard links",
    sentence: `${quoted(path)} has ${names} names (hard links), and a change would show under all of them. Write to another path, or ask a person.`,
  }
}

/** Links go in circles, or a folder on the way cannot be read. */
export function unresolvable(path: string): PathRefusal {
  return {
    code: "outside",
    reason: "path_unknown",
    source: "workspace",
    sentence: `Access denied: Path is outside workspace directory, as far as can be told (${quoted(path)}). Check the links and folders on its way.`,
  }
}

function quoted(path: string): string {
  const text = JSON.stringify(path).slice(1, -1)
  return `'${text.length > 300 ? `${text.slice(0, 300)}…` : text}'`
}
