import { useEffect, useState, type RefObject } from "react"
import { printableJson } from "../../../src/lib/printable.ts"

export interface Selected {
  /** The values that the selection touches, by pointer. */
  readonly pointers: readonly string[]
  /** The words, where they lie inside one text. */
  readonly text: string | undefined
}

/** Words as they stand in printed JSON, and back. */
export const printed = (text: string) => printableJson(text).slice(1, -1)
function unprinted(text: string): string {
  const inner = text.replace(/^"/, "").replace(/"$/, "")
  try {
    return JSON.parse(`"${inner}"`) as string
  } catch {
    return inner
  }
}

/** Returns the selection inside an element, as values of the result. */
export function useSelection(inside: RefObject<HTMLElement | null>): Selected | undefined {
  const [selected, setSelected] = useState<Selected>()
  useEffect(() => {
    const look = () => {
      const selection = window.getSelection()
      const box = inside.current
      if (selection === null || selection.isCollapsed || box === null || !box.contains(selection.anchorNode))
        return setSelected(undefined)
      const range = selection.getRangeAt(0)
      const touched = [...box.querySelectorAll<HTMLElement>("[data-pointer]")].filter((each) =>
        range.intersectsNode(each),
      )
      const pointers = [...new Set(touched.map((each) => each.dataset["pointer"] ?? ""))]
      const [only] = touched
      const isJson = only?.className === "j-s"
      // Lines of a printed text are broken for the eye only.
      const text = isJson ? selection.toString().replaceAll("\n", "") : selection.toString()
      const within = touched.length === 1 && only?.contains(range.startContainer) && only.contains(range.endContainer)
      const isPart =
        within === true &&
        only !== undefined &&
        only.className !== "j-n" &&
        text !== only.textContent &&
        /[^"\s]/.test(text)
      const part = isJson ? unprinted(text) : text
      setSelected(pointers.length === 0 ? undefined : { pointers, text: isPart ? part : undefined })
    }
    document.addEventListener("selectionchange", look)
    return () => document.removeEventListener("selectionchange", look)
  }, [inside])
  return selected
}
