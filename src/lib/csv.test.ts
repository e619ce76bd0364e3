import { expect, test } from "vitest"
import { csvLine } from "./csv.ts"

test.each<[(string | number)[], string]>([
  [["a", 1, ""], "a,1,\r\n"],
  [["a,b", 'say "hi"', "two\nlines", "cr\rhere"], '"a,b","say ""hi""","two\nlines","cr\rhere"\r\n'],
  [["=1+1", "+1", "-1", "@x", "\tx", "\rx"], "'=1+1,'+1,'-1,'@x,'\tx,\"'\rx\"\r\n"],
  [['=HYPERLINK("x")'], '"\'=HYPERLINK(""x"")"\r\n'],
  [[-1, " =1", "a=1", "'=1"], "-1, =1,a=1,'=1\r\n"],
])("%j is written as %j", (fields, line) => expect(csvLine(fields)).toBe(line))
