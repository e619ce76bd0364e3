import { expect, test } from "vitest"
import type { PendingItem } from "../../core/approval.ts"
import { previewOf } from "./preview.ts"

test("a line about a command keeps its code and values, and one without a code its text", () => {
  const coded = { code: "detail_folder", params: { folder: "sub" }, text: "Folder: sub" }
  const previewData = { kind: "command", command: "ls", network: false, details: ["Nice: 5", coded] } as const
  expect(previewOf({ previewData } as unknown as PendingItem)).toMatchObject({
    details: [{ code: "detail", text: "Nice: 5" }, coded],
  })
})
