import fc from "fast-check"
import { expect, test } from "vitest"
import { sourceLanguageOf, type Language } from "./languages.ts"
import { outlineKinds, createOutliner, type Outline } from "./outline.ts"
import { grammarFolder } from "./worker-file.ts"

const outlines = createOutliner(grammarFolder())

/** `kind container.name@line:column`, from 1. */
function shown({ names, numbers }: Outline): string[] {
  const list = names === "" ? [] : names.split("\n")
  return list.flatMap((name, place) => {
    const [line, column, kind, parent] = numbers.subarray(place * 4)
    if (outlineKinds[kind!] === "scope") return []
    const inside = parent === -1 ? "" : `${list[parent!]}.`
    return [`${outlineKinds[kind!]} ${inside}${name}@${line! + 1}:${column! + 1}`]
  })
}

const samples: Record<string, readonly [Language, string, string[]]> = {
  "functions and classes of TypeScript": [
    "typescript",
    `export async function a<T>(x: number) { const inner = 1; return function named() {} }
export default class B extends C { #p = 1; static s = 2; constructor(private q: X) {} get g() { return 1 } }
abstract class Ab { abstract foo(): void; bar = () => 1 }
declare function df(x: string): void
function* gen() {}`,
    [
      "function a@1:23",
      "variable a.inner@1:47",
      "function a.named@1:74",
      "class B@2:22",
      "field B.#p@2:36",
      "field B.s@2:51",
      "method B.constructor@2:58",
      "field constructor.q@2:78",
      "method B.g@2:91",
      "class Ab@3:16",
      "method Ab.foo@3:30",
      "method Ab.bar@3:43",
      "function df@4:18",
      "function gen@5:11",
    ],
  ],
  "types and variables of TypeScript": [
    "typescript",
    `export interface I { f(): void; p: string }
type T = string; enum E { A, B = 2 } namespace N { export const q = 1 } declare module "x" { }
export const arrow = async (x) => x, plain = 3, ce = class {}
let { d1, d2: renamed, d3 = 4, ...rest } = obj; var [e1, , e2 = 4] = arr
export const tool = defineTool({ name: "x", execute() {}, run: () => 1 })
for (const one of many) {}`,
    [
      "interface I@1:18",
      "method I.f@1:22",
      "field I.p@1:33",
      "type T@2:6",
      "enum E@2:23",
      "constant E.A@2:27",
      "constant E.B@2:30",
      "module N@2:48",
      "variable N.q@2:65",
      "module x@2:88",
      "function arrow@3:14",
      "variable plain@3:38",
      "class ce@3:49",
      "variable d1@4:7",
      "variable renamed@4:15",
      "variable d3@4:24",
      "variable rest@4:35",
      "variable e1@4:54",
      "variable e2@4:60",
      "variable tool@5:14",
      "method tool.execute@5:45",
      "method tool.run@5:59",
      "variable one@6:12",
    ],
  ],
  "JSX in TypeScript": [
    "tsx",
    "export const Page = ({ a }: Props) => <div>{a}</div>\nfunction Row() { return <tr/> }",
    ["function Page@1:14", "function Row@2:10"],
  ],
  JavaScript: [
    "javascript",
    `function f() { var v = 1 }
class C { field = 1; #x = () => 2; m() {} static async s() {} }
module.exports.foo = function () {}; C.prototype.bar = () => {}
const { a, b: c } = require("x")`,
    [
      "function f@1:10",
      "variable f.v@1:20",
      "class C@2:7",
      "field C.field@2:11",
      "method C.#x@2:22",
      "method C.m@2:36",
      "method C.s@2:56",
      "function foo@3:16",
      "function bar@3:50",
      "variable a@4:9",
      "variable c@4:15",
    ],
  ],
  Python: [
    "python",
    `X = 1
X = 2
a, b = 1, 2
def f(x):
    z = 1
    z = 2
    def inner(): pass
class C(B):
    attr: int = 1
    @property
    def m(self):
        self.q = 1
async def g(): pass
lam = lambda x: x
with open(p) as handle: pass
if (n := 10): pass`,
    [
      "variable X@1:1",
      "variable a@3:1",
      "variable b@3:4",
      "function f@4:5",
      "variable f.z@5:5",
      "function f.inner@7:9",
      "class C@8:7",
      "field C.attr@9:5",
      "method C.m@11:9",
      "field m.q@12:14",
      "function g@13:11",
      "function lam@14:1",
      "variable handle@15:17",
      "variable n@16:5",
    ],
  ],
  Go: [
    "go",
    `package main
const Pi = 3
const (
	A = iota
	B
)
var x, y int = 1, 2
type S struct {
	Field int
}
type I interface {
	M(x int) error
}
type Al = string
func F(a int) {}
func (s *S) Method() {
	q := 1
}
func (l List[T]) Len() int { return 0 }`,
    [
      "constant Pi@2:7",
      "constant A@4:2",
      "constant B@5:2",
      "variable x@7:5",
      "variable y@7:8",
      "struct S@8:6",
      "field S.Field@9:2",
      "interface I@11:6",
      "method I.M@12:2",
      "type Al@14:6",
      "function F@15:6",
      "method S.Method@16:13",
      "variable Method.q@17:2",
      "method List.Len@19:18",
    ],
  ],
  Rust: [
    "rust",
    `const A: u8 = 1; static mut B: i32 = 2;
pub struct S { f: u8 } enum E { X, Y(u8) } union Un { a: u8 }
trait T { fn req(&self); fn prov(&self) {} type Ty; }
impl S { pub fn new() -> S { let x = 1; } }
impl<K> Tr for Map<K> { fn go() {} }
mod m { fn inner() {} } macro_rules! mac { () => {} }
type Alias = u8; async fn af() { let (a, b) = (1, 2); }`,
    [
      "constant A@1:7",
      "variable B@1:29",
      "struct S@2:12",
      "field S.f@2:16",
      "enum E@2:29",
      "constant E.X@2:33",
      "constant E.Y@2:36",
      "union Un@2:50",
      "field Un.a@2:55",
      "trait T@3:7",
      "method T.req@3:14",
      "method T.prov@3:29",
      "type T.Ty@3:49",
      "method S.new@4:17",
      "variable new.x@4:34",
      "method Map.go@5:28",
      "module m@6:5",
      "function m.inner@6:12",
      "macro mac@6:38",
      "type Alias@7:6",
      "function af@7:27",
      "variable af.a@7:39",
      "variable af.b@7:42",
    ],
  ],
  Java: [
    "java",
    `package a.b;
public class C<T> extends D { private int f = 1, g; C() {} void m(int a) { int local = 1; } class Inner {} }
interface I { void q(); int Z = 1; } enum E { A; void em() {} }
record R(int x) { } @interface An { String v(); }`,
    [
      "class C@2:14",
      "field C.f@2:43",
      "field C.g@2:50",
      "method C.C@2:53",
      "method C.m@2:65",
      "variable m.local@2:80",
      "class C.Inner@2:99",
      "interface I@3:11",
      "method I.q@3:20",
      "constant I.Z@3:29",
      "enum E@3:43",
      "constant E.A@3:47",
      "method E.em@3:55",
      "class R@4:8",
      "field R.x@4:14",
      "interface An@4:32",
      "method An.v@4:44",
    ],
  ],
  C: [
    "cpp",
    `#define MAC 1
#define FN(x) x
int g = 1, *p, arr[3]; static int (*fp)(int) = 0;
static inline char *text(void) { int local = 1; return 0; }
int decl(int, char *name, int list[]);
struct S { int field; };
typedef struct { int q; } TS; typedef int (*cb)(int); enum E { A, B }; union U { int a; };
struct forward;`,
    [
      "macro MAC@1:9",
      "macro FN@2:9",
      "variable g@3:5",
      "variable p@3:13",
      "variable arr@3:16",
      "variable fp@3:37",
      "function text@4:21",
      "variable text.local@4:38",
      "function decl@5:5",
      "struct S@6:8",
      "field S.field@6:16",
      "struct TS@7:27",
      "field TS.q@7:22",
      "type cb@7:45",
      "enum E@7:60",
      "constant E.A@7:64",
      "constant E.B@7:67",
      "union U@7:78",
      "field U.a@7:86",
    ],
  ],
  "C++": [
    "cpp",
    `class K : public S { public: virtual void v() = 0; template<class T> void tm(T t) {} static int sf; ~K(); };
namespace N { void nf() {} using Al = int; }
void K::v() {} N::X K::operator()(int) { }
template<typename T> T tf(T a) { return a; }
template<> struct Sp<int> {}; auto lam = [](int x) { return x; }; enum class EC { X };`,
    [
      "class K@1:7",
      "method K.v@1:43",
      "method K.tm@1:75",
      "field K.sf@1:97",
      "method K.~K@1:101",
      "module N@2:11",
      "function N.nf@2:20",
      "type N.Al@2:34",
      "method K.v@3:9",
      "method K.operator()@3:24",
      "function tf@4:24",
      "struct Sp@5:19",
      "function lam@5:36",
      "enum EC@5:78",
      "constant EC.X@5:83",
    ],
  ],
}

test.each(Object.entries(samples))("the outline lists declarations: %s", async (_, [language, text, expected]) => {
  expect(shown((await outlines.outline(text, language))!)).toEqual(expected)
})

test("a file with a syntax error still has the declarations around it", async () => {
  const text = "export function before() {}\nconst x = = ;\nexport class After { m() {} }\n"
  const found = shown((await outlines.outline(text, "typescript"))!)
  expect(found).toContain("function before@1:17")
  expect(found).toContain("class After@3:14")
})

test("a text that is not a program has no outline", async () => {
  expect(await outlines.outline("}}} ((( %%% \u0001", "typescript")).toBeUndefined()
  expect(shown((await outlines.outline("// only a comment\n", "typescript"))!)).toEqual([])
})

test("columns count UTF-16 units, and names are not only Latin", async () => {
  expect(shown((await outlines.outline('const s = "🎉é", größe = 1\nclass 报告 {}\n', "typescript"))!)).toEqual([
    "variable s@1:7",
    "variable größe@1:18",
    "class 报告@2:7",
  ])
})

test("law: in any text, each name is at the position in the outline", async () => {
  const pieces = [
    "class A {",
    "}",
    "function f(",
    ")",
    "const x = 1",
    "\n",
    "interface Été {",
    "x: 1",
    "'",
    "`${",
    "=>",
    "🎉",
  ]
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...pieces), { maxLength: 30 }), async (list) => {
      const text = list.join(" ")
      const outline = await outlines.outline(text, "typescript")
      const lines = text.split("\n")
      for (const [place, name] of (outline?.names.split("\n") ?? []).entries()) {
        if (name === "") continue
        const [line, column] = outline!.numbers.subarray(place * 4)
        expect(lines[line!]!.slice(column!)).toContain(name.split(" ")[0])
      }
    }),
    { numRuns: 100 },
  )
})

test.each([
  ["a.ts", "typescript", "typescript"],
  ["a.d.mts", "typescript", "typescript"],
  ["a.TSX", "typescript", "tsx"],
  ["a.cjs", "javascript", "javascript"],
  ["a.h", "c", "cpp"],
  ["a.hpp", "cpp", "cpp"],
  ["a.rb", "ruby", undefined],
  ["Makefile", undefined, undefined],
  [".ts", undefined, undefined],
  ["a.md", undefined, undefined],
])("%s is read as %s by %s", (name, language, grammar) => {
  expect(sourceLanguageOf(name)).toEqual(language === undefined ? undefined : { language, ...(grammar && { grammar }) })
})
