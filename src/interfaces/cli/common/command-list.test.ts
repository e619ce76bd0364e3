import { expect, test } from "vitest"
import { commandList } from "./command-list.ts"

const rows = [
  ["qm trust", "trust a file"],
  ["qm tokens create", "create a token"],
] as const

test("commands stand beside what they do where there is room, and above it where there is not", () => {
  expect(commandList(rows, { isTTY: true, columns: 36 })).toEqual([
    "  qm trust          trust a file",
    "  qm tokens create  create a token",
  ])
  expect(commandList(rows, { isTTY: true, columns: 33 })).toEqual([
    "  qm trust",
    "      trust a file",
    "  qm tokens create",
    "      create a token",
  ])
})
