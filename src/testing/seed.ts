import fc from "fast-check"

/**
 * Properties try the same cases in every run of the fast and full tests, so that a red run can be repeated and a green
 * one stays green. `QM_TEST_SEED=random` looks for new ones; the soak always does. A failure prints its seed.
 */
const seed = process.env["QM_TEST_SEED"] ?? "20261117"
if (seed !== "random") fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) })
