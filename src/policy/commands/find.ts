import type { Unread, Word } from "./line.ts"
import type { Use } from "./programs.ts"

const alone = setOf(
  "-print -print0 -ls -depth -d -mount -xdev -empty -readable -writable -executable -true -false -a -and -o -or -not ! ( ) , -prune -quit -daystart -nouser -nogroup -noleaf -ignore_readdir_race -noignore_readdir_race",
)
const withText = setOf(
  "-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -size -mtime -mmin -ctime -cmin -atime -amin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -fstype -regextype -printf -lname -ilname -used",
)
const withFile = setOf("-newer -anewer -cnewer -samefile")

/** find only names what it finds, as long as nothing in its expression runs, deletes or writes. */
export function readFind(args: readonly Word[]): Use | Unread {
  const start = args.findIndex(({ value }) => /^[-!(,]/.test(value) && value !== "-H" && value !== "-P")
  const folders = args.slice(0, start === -1 ? undefined : start).filter(({ value }) => !value.startsWith("-"))
  if (folders.some(({ glob }) => glob === 0)) return { because: "a pattern could stand for an action of find" }
  const reads = [...folders]
  for (let at = start === -1 ? args.length : start; at < args.length; at++) {
    const { value, glob } = args[at]!
    const next = args[at + 1]
    if (glob !== -1) return { because: `the pattern '${value}' is expanded before find sees it` }
    if (alone.has(value)) continue
    const takesText = withText.has(value) || /^-newer[aBcm]t$/.test(value)
    if (!takesText && !withFile.has(value))
      return { because: `the action '${value}' of find is not known to be harmless` }
    if (next === undefined || next.glob !== -1) return { because: `what follows '${value}' is not one plain word` }
    if (!takesText) reads.push(next)
    at++
  }
  return { reads: reads.length === 0 ? [{ value: ".", glob: -1 }] : reads }
}

const fileTests = setOf("-e -f -d -r -w -x -s -L -h -b -c -p -S -g -u -k -O -G -N -nt -ot -ef")
const otherTests = setOf("-z -n = == != < > -eq -ne -lt -le -gt -ge -a -o ! ( )")

/** `test` and `[`. Other operators of the shell's own test evaluate what they are given. */
export function readTest(args: readonly Word[]): Use | Unread {
  const reads: Word[] = []
  const words = args.at(-1)?.value === "]" ? args.slice(0, -1) : args
  for (const [at, word] of words.entries()) {
    if (word.glob !== -1 || /[$`]/.test(word.value)) return { because: "a word of the test could be evaluated" }
    if (!/^-[A-Za-z]+$/.test(word.value)) continue
    if (!fileTests.has(word.value) && !otherTests.has(word.value))
      return { because: `the test '${word.value}' is not known to be harmless` }
    if (!fileTests.has(word.value)) continue
    const next = words[at + 1]
    if (next !== undefined) reads.push(next)
    if (word.value.length === 3 && at > 0) reads.push(words[at - 1]!)
  }
  return { reads }
}

function setOf(names: string): ReadonlySet<string> {
  return new Set(names.split(" "))
}
