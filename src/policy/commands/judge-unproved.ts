import { posix } from "node:path"
import type { Finding, GuardLook, LookOptions } from "../../model/guard.ts"
import type { Touch } from "../../model/rule.ts"
import { harmlessDevice, isForkBomb } from "./dangers.ts"
import { placeIn } from "./disk.ts"
import { asks, commandTouch, dangerous, denial, networkDenial, notAllowed, within } from "./findings.ts"
import type { House } from "./house.ts"
import type { Parsers } from "./parsers.ts"
import { search } from "./search.ts"
import type { Seen } from "./seen.ts"

/** Where nothing is proved a person is asked, unless what is denied can be seen in it. */
export function judgeUnproved(
  touch: Touch,
  because: string,
  folder: string,
  house: House,
  parsers: Parsers,
  call: LookOptions,
): GuardLook {
  const seen = search(touch.what, parsers)
  const commands = seen.commands.map(({ words }) => words)
  const more = [touch, ...uniqueTouches(commands.map(commandTouch))]
  const ground = { workspace: house.workspace, cwd: folder }
  const denied = isForkBomb(touch.what)
    ? dangerous("a part of it starts itself over and over", [touch.what])
    : (denial(commands, ground, house.deny) ?? writeDenial(seen, folder, house, call))
  if (denied !== undefined) return { more, proved: false, findings: [denied] }
  if (house.mode === "allowlist") {
    const missing = commands.find(
      (words) => !/[$`*?{[]/.test(words[0]!) && words[0] !== "cd" && !house.allow.naming(words),
    )
    if (missing !== undefined) return { more, proved: false, findings: [notAllowed(missing)] }
  }
  const word = deniedWord(touch.what, house)
  const highlight = word === undefined ? "" : ` Look at '${word}' in it, which is denied as a command.`
  const sentence = `It cannot be said for certain what this command runs, because ${because}.${highlight}`
  return { more, proved: false, findings: [asks("commands", sentence)] }
}

/** A write to where nobody may write is denied also when the rest of the line cannot be told. */
function writeDenial(
  { redirects, commands }: Seen,
  folder: string,
  house: House,
  call: LookOptions,
): Finding | undefined {
  const targets = redirects.filter(({ operator }) => operator.includes(">")).map(({ target }) => target)
  for (const { words } of commands)
    if (/(?:^|\/)tee$/.test(words[0]!)) targets.push(...words.slice(1).filter((word) => !word.startsWith("-")))
  const all = [...targets, ...redirects.map(({ target }) => target)]
  for (const target of all) {
    const network = networkDenial(target, [target])
    if (network !== undefined) return network
  }
  const folders = [folder]
  for (const { words } of commands)
    if (words[0] === "cd" && words[1] !== undefined && !/[$`~]/.test(words[1]))
      folders.push(posix.resolve(folder, words[1]))
  for (const target of new Set(targets)) {
    const path = target.replace(/^(?:\$HOME|\$\{HOME\})(?=\/|$)/, "~")
    if (/[$`*?]/.test(path) || /^\d$|^-$/.test(path) || harmlessDevice.test(path)) continue
    for (const base of path.startsWith("~") ? [""] : folders) {
      const what = base === "" ? path : placeIn(base, path, house.disk)
      const finding = house
        .paths([{ kind: "write", what, opens: true }], call)
        .findings.find(({ says }) => says === "deny")
      if (finding !== undefined) return within(finding, [`> ${target}`])
    }
  }
  return undefined
}

function deniedWord(script: string, { deniedNames }: House): string | undefined {
  const plain = script
    .slice(0, 100_000)
    .replace(/\\\n/g, "")
    .replace(/["'\\]/g, "")
  return deniedNames.find((name) => {
    const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
    return new RegExp(`(?<![\\w-])${escaped}(?![\\w-])`, "i").test(plain)
  })
}

function uniqueTouches(touches: readonly Touch[]): Touch[] {
  return [...new Map(touches.slice(0, 1000).map((touch) => [touch.what, touch])).values()]
}
