/** broken: does not work; missing: optional, but recommended; note: worth knowing. */
export interface DoctorFinding {
  state: "ok" | "missing" | "note" | "broken"
  sentence: string
}

export const ok = (sentence: string): DoctorFinding => ({ state: "ok", sentence })
export const missing = (sentence: string): DoctorFinding => ({ state: "missing", sentence })
export const note = (sentence: string): DoctorFinding => ({ state: "note", sentence })
export const broken = (sentence: string): DoctorFinding => ({ state: "broken", sentence })
