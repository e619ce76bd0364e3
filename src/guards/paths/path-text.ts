/** Describes the fault of a path's text; undefined when there is none. Does not read the disk. */
export function pathTextFault(path: string): string | undefined {
  if (path === "") return "it is empty"
  if (path.length > longest) return `it is longer than ${longest} characters`
  if (!suspicious.test(path)) return undefined
  // oxlint-disable-next-line no-control-regex
  if (/[\0-\x1f\x7f]/.test(path)) return "it has a control character"
  if (/\p{Surrogate}/u.test(path)) return "it is not valid Unicode text"
  if (path.startsWith("~")) return "'~' is not expanded"
  if (/^[a-z][a-z0-9+.-]*:\/\/|^(file|data):/i.test(path)) return "it is a web address"
  if (process.platform !== "win32") {
    if (path.includes("\\")) return "it has a '\\'; folders are separated by '/'"
    if (/^[a-z]:(\/|$)/i.test(path)) return "drive letters are not supported"
  }
  if (namesVariable.test(path)) return "variables are not expanded"
  if (/%(2e|2f|5c|00)/i.test(path)) return "it has percent-encoded characters, as in a web address"
  return looksLikeSteps(path) ? "it has characters that only look like '.' or '/'" : undefined
}

/**
 * The form in which names are compared with lists. Two names that some file system treats as the same fold to the same
 * text: letter case, compatibility forms, invisible characters, trailing dots and spaces, streams and short names.
 */
export function foldName(name: string): string {
  const lower = name.toLowerCase()
  if (plain.test(lower)) return lower
  const visible = name.normalize("NFKC").replace(invisible, "").toLowerCase().normalize("NFKC")
  const colon = visible.indexOf(":")
  const trimmed = (colon > 0 ? visible.slice(0, colon) : visible).trimStart().replace(/[. ]+$/, "")
  return shortNames.get(trimmed) ?? (trimmed === "" ? visible : trimmed)
}

/** The same for a whole path. */
export function foldPath(path: string): string {
  const lower = path.toLowerCase()
  return plainPath.test(lower) ? lower : path.split("/").map(foldName).join("/")
}

const longest = 4096
// oxlint-disable-next-line no-control-regex
const suspicious = /[\0-\x1f\x7f~$\\%:`]|[^\0-\x7f]/
/** `$HOME`, `${home}`, `$(pwd)` anywhere, and any variable as the first step; `routes/$id.ts` is an ordinary name. */
const namesVariable = /^\$|\$[{('"]|\$[A-Z_][A-Z0-9_]*(\/|$)|`/
const plain = /^[a-z0-9_.@+=,()[\]{}-]*[a-z0-9_@+=,()[\]{}-]$/
const plainPath = /^(\/|[a-z0-9_.@+=,()[\]{}-]*[a-z0-9_@+=,()[\]{}-](\/|$))*$/
const invisible = /\p{Default_Ignorable_Code_Point}/gu
const shortNames = new Map([["git~1", ".git"], ["gitmod~1", ".gitmodules"], ["env~1", ".env"]]) // prettier-ignore

function looksLikeSteps(path: string): boolean {
  // oxlint-disable-next-line no-control-regex
  if (/^[\0-\x7f]*$/.test(path)) return false
  return path.split("/").some((step) => {
    const folded = step.normalize("NFKC").replace(invisible, "")
    return folded !== step && (folded === "." || folded === ".." || /[/\\\0]/.test(folded))
  })
}
