/** *broken* stops the work now; *missing* would make it better; *note* is worth knowing. */
export interface Finding {
  state: "ok" | "missing" | "note" | "broken"
  sentence: string
}

export const ok = (sentence: string): Finding => ({ state: "ok", sentence })
export const missing = (sentence: string): Finding => ({ state: "missing", sentence })
export const note = (sentence: string): Finding => ({ state: "note", sentence })
export const broken = (sentence: string): Finding => ({ state: "broken", sentence })
