// What was checked, said line by line; what failed is collected, so that one run tells everything.

const failures = []

export const say = (line) => console.log(`ok ${line}`)
export const note = (line) => console.log(`   ${line}`)

export function fail(line) {
  failures.push(line)
  console.error(`FAILED ${line}`)
}

export function expect(condition, what) {
  if (!condition) throw new Error(`expected ${what}`)
}

/** Runs a part; its failure is noted and the next part still runs. */
export async function part(name, run) {
  const started = performance.now()
  const known = failures.length
  try {
    await run()
  } catch (error) {
    fail(`${name}: ${error.stack ?? error}`)
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  if (failures.length === known) say(`${name} (${seconds} s)`)
  else note(`${name} took ${seconds} s`)
}

/** Ends the run, whatever a broken part has left open: 1 if anything failed. */
export function finish() {
  if (failures.length === 0) {
    console.log('ok all pages')
    process.exit(0)
  }
  console.error(`\n${failures.length} failed:`)
  for (const line of failures) console.error(`- ${line.split('\n')[0]}`)
  process.exit(1)
}

/** Asks until the answer is there; what is thrown at the end says what was waited for. */
export async function until(what, ask, { patience = 15_000, pause = 100 } = {}) {
  const deadline = performance.now() + patience
  for (;;) {
    const answer = await ask()
    if (answer) return answer
    if (performance.now() > deadline) throw new Error(`waited ${patience / 1000} s for ${what}`)
    await new Promise((resume) => setTimeout(resume, pause))
  }
}
