import { join } from 'node:path'
import { findBase, namedBase } from '../image/base.mjs'
import { buildImage } from '../image/build.mjs'
import { buildah, pull } from '../image/buildah.mjs'
import { has } from '../image/workplace.mjs'
import { stop } from './stop.mjs'

const own = process.arch === 'arm64' ? 'arm64' : 'amd64'

/**
 * The image for both architectures, as OCI archives. The last stage of the Dockerfile runs programs, so the
 * architecture that this machine does not have needs an emulator.
 */
export async function makeImages(context, { version, commit, time }, out, { base: given, draft }) {
  if (!has('buildah'))
    stop('buildah is missing: install it, or leave the image out with --no-image')
  const base = given ?? (draft ? await findBase() : await pinnedBase())
  const names = []
  for (const architecture of [own, own === 'amd64' ? 'arm64' : 'amd64']) {
    const tag = `postern:${version}-${architecture}`
    const platform = `linux/${architecture}`
    try {
      await buildImage({ base, commit, tag, context, platform, time })
    } catch (error) {
      const reason = `${error.stderr ?? error}`.trim().split('\n').at(-1)
      if (architecture === own) stop(`the image does not build: ${reason}`)
      console.error(`release: no image for ${architecture} on this machine: ${reason}`)
      continue
    }
    const name = `postern-${version}-${architecture}.oci.tar`
    await buildah('push', '--quiet', tag, `oci-archive:${join(out, name)}:${version}`)
    names.push(name)
  }
  return names
}

async function pinnedBase() {
  const base = namedBase()
  if (await pull(base)) return base
  return stop(`${base} cannot be pulled: name a mirror's with --base, or use --no-image`)
}
