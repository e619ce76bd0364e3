import type { Finding } from "../../core/guard.ts"
import type { FileAccess } from "./path-lists.ts"
import type { PathRefusal } from "./path-refusals.ts"

/** A person confirms each use of the path. */
export function asks(what: string, use: FileAccess, because: string): Finding {
  const verb = use === "read" ? "Reading" : "Writing"
  const sentence = `${verb} '${what}' needs a person's confirmation each time, because ${because}.`
  const params = { path: what, use }
  const source = "confirmed paths"
  return { verdict: "ask", reason: { check: "guard", source, code: "path_confirmed", params, sentence, binding: true } }
}

/** Nobody uses the path. */
export function denies({ code, reason, source, sentence }: PathRefusal, path: string): Finding {
  const ending = code === "sealed" ? "permission_denied" : "path_outside_workspace"
  return { verdict: "deny", reason: { check: "guard", source, code: reason, params: { path }, sentence }, code: ending }
}
