import { expect, test } from "vitest"
import { makeCli } from "../../testing.ts"

const asked = "PIN (at least 6 digits, not shown):"
const again = "The same PIN again:"

test("at a terminal a PIN is asked for twice and not shown; two that differ change nothing", async () => {
  const cli = makeCli()
  const differ = await cli.inTerminal(["pin", "set"], [[asked, "739164\r"], [again, "739165\r"]]) // prettier-ignore
  expect([differ.code, differ.stdout]).toEqual([1, expect.stringContaining("The two PINs differ")])
  const set = await cli.inTerminal(["pin", "set"], [[asked, "739164\r"], [again, "739164\r"]]) // prettier-ignore
  expect([set.code, set.stdout]).toEqual([0, expect.stringMatching(/The PIN of .* is set\./)])
  expect(differ.stdout + set.stdout).not.toMatch(/73916\d/)
  const left = await cli.inTerminal(["pin", "set"], [[asked, "\u0003"]])
  expect([left.code, left.stdout]).toEqual([1, expect.stringContaining("Nothing was changed.")])
  expect((await cli.run("pin", "clear")).stdout).toMatch(/^The PIN of .* is cleared\./)
})
