import type { Documents } from "../model/documents.ts"
import type { Masker, Ports } from "../model/ports.ts"
import { fileDigests } from "./file-digests.ts"
import { fileVersions } from "./file-versions.ts"
import { lazyCalls } from "./lazy.ts"
import type { Store } from "./store.ts"

type Kept = "recorder" | "calls" | "artifacts" | "limits" | "masker" | "grants" | "alive" | "refresh"

/** What the walk asks of the store, and of the files in the workspace. */
export function storePorts(
  store: Store,
  documents: Documents,
  masker: Masker,
  workspace: string,
): Pick<Ports, Kept | "digests" | "fileVersions"> {
  return {
    recorder: store.recorder,
    calls: lazyCalls(store),
    artifacts: store.artifacts,
    limits: store.limits,
    masker,
    grants: {
      keep: async (grant) => void (await documents.put({ kind: "grant", id: grant.id, body: grant }, grant.by)),
    },
    alive: (other) => store.leases.alive(other),
    refresh: () => documents.refresh(),
    digests: (touches) => fileDigests(touches, workspace),
    fileVersions: (touches) => fileVersions(touches, workspace),
  }
}
