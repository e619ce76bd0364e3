import { encode } from "jpeg-js"
import { inflateSync } from "node:zlib"
import { expect, test } from "vitest"
import { width } from "../../terminal/width.ts"
import { pictureShower } from "./picture.ts"

/** The left half red, the right half blue. */
function redAndBlue(width: number, height: number): Buffer {
  const pixels = Buffer.alloc(width * height * 4, 255)
  for (let at = 0; at < width * height; at++) pixels.set(at % width < width / 2 ? [255, 0, 0] : [0, 0, 255], at * 4)
  return encode({ width, height, data: pixels }, 100).data
}

const jpeg = { mimeType: "image/jpeg", data: redAndBlue(160, 80).toString("base64") }
/** One transparent pixel. */
const png = {
  mimeType: "image/png",
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=",
}
const colours = { TERM: "xterm-256color", COLORTERM: "truecolor" }

test("half blocks show two pixels a character, in the colours of the picture and in its proportions", async () => {
  const show = await pictureShower(colours)
  const rows = show(jpeg, 43)!
  expect(rows).toHaveLength(10)
  expect(new Set(rows.map(width))).toEqual(new Set([42]))
  const seen = [...rows[0]!.matchAll(/38;2;(\d+);(\d+);(\d+);48;2;\d+;\d+;\d+m▀/g)].map((each) =>
    each.slice(1).map(Number),
  )
  expect(seen).toHaveLength(40)
  const isRed = ([red = 0, , blue = 0]: number[]) => red > 200 && blue < 50
  const isBlue = ([red = 0, , blue = 0]: number[]) => blue > 200 && red < 50
  expect(seen.slice(0, 19).every(isRed) && seen.slice(21).every(isBlue)).toBe(true)
})

test("a tall picture is as high as fits, and narrower for it", async () => {
  const show = await pictureShower(colours)
  const rows = show({ mimeType: "image/jpeg", data: redAndBlue(40, 400).toString("base64") }, 80)!
  expect([rows.length, width(rows[0]!)]).toEqual([24, 7])
})

test("iTerm2 is given the file as it is", async () => {
  const show = await pictureShower({ TERM_PROGRAM: "iTerm.app", ...colours })
  const [row = ""] = show(jpeg, 43)!
  expect(row).toContain("]1337;File=inline=1;")
  expect(row).toContain(";width=40;height=10;")
  expect(row.endsWith(`:${jpeg.data}\u0007`)).toBe(true)
})

test("kitty is given a PNG as it is, and the pixels of a JPEG, in pieces", async () => {
  const show = await pictureShower({ TERM: "xterm-kitty" })
  const piecesOf = ([row = ""]: string[]) =>
    row
      .split("\u001b_G")
      .slice(1)
      .map((piece) => piece.replace("\u001b\\", "").split(";"))
  expect(piecesOf(show(png, 80)!)).toEqual([["a=T,q=2,f=100,c=48,r=24,m=0", png.data]])
  const noise = Buffer.from(Array.from({ length: 64 * 64 * 4 }, (_, at) => (at * 7919 * (at % 13)) % 256))
  const data = encode({ width: 64, height: 64, data: noise }, 100).data.toString("base64")
  const pieces = piecesOf(show({ mimeType: "image/jpeg", data }, 80)!)
  expect(pieces.length).toBeGreaterThan(1)
  expect(pieces.map(([how = ""]) => how.slice(-3))).toEqual([...pieces.slice(1).map(() => "m=1"), "m=0"])
  const pixels = inflateSync(Buffer.from(pieces.map(([, piece]) => piece).join(""), "base64"))
  expect(pixels).toHaveLength(64 * 64 * 3)
})

test.each([
  ["without colours", { TERM: "xterm" }, jpeg],
  ["where no colours are wanted", { ...colours, NO_COLOR: "1" }, jpeg],
  ["of a PNG in half blocks", colours, png],
  ["that is broken", colours, { mimeType: "image/jpeg", data: "QUJD" }],
  ["that says it is larger than it is", colours, { ...jpeg, data: jpeg.data.slice(0, 900) }],
])("a picture %s is not shown", async (_, env, image) => {
  const show = await pictureShower(env)
  expect(show(image, 80)).toBeUndefined()
})

test("tmux passes on colours but no pictures", async () => {
  const show = await pictureShower({ ...colours, TERM: "tmux-256color", TMUX: "/tmp/tmux", TERM_PROGRAM: "iTerm.app" })
  expect(show(jpeg, 43)![0]).toContain("▀")
})
