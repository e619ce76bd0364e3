import type { Documents } from "../core/documents.ts"
import type { Masker } from "../audit/masker.ts"
import type { Ports } from "../call/state/ports.ts"
import { fileDigests } from "../platform/files/file-digests.ts"
import { fileSizes } from "../platform/files/file-sizes.ts"
import { fileVersions } from "../platform/files/file-versions.ts"
import { lazyCalls } from "../store/sqlite/lazy.ts"
import type { Store } from "../store/sqlite/store.ts"

type StoreParts = "recorder" | "calls" | "artifacts" | "limits" | "masker" | "grants" | "isAlive" | "refresh"

/** The ports of a call that the store implements, and those that read files in the workspace. */
export function storePorts(
  store: Store,
  documents: Documents,
  masker: Masker,
  workspace: string,
): Pick<Ports, StoreParts | "digests" | "fileSizes" | "fileVersions"> {
  return {
    recorder: store.recorder,
    calls: lazyCalls(store),
    artifacts: store.artifacts,
    limits: store.limits,
    masker,
    grants: {
      save: async (grant) => void (await documents.put({ kind: "grant", id: grant.id, body: grant }, grant.by)),
    },
    isAlive: (owner) => store.leases.isAlive(owner),
    refresh: () => documents.refresh(),
    digests: (touches) => fileDigests(touches, workspace),
    fileSizes: (touches) => fileSizes(touches, workspace),
    fileVersions: (touches) => fileVersions(touches, workspace),
  }
}
