import { readImage } from "everturn/plugin";
import { askAboutImage } from "./image-child.ts";
import { Mistake } from "./mistake.ts";
import type { Change, ImageLimits, MadeImage } from "./protocol.ts";

export interface GalleryLimits extends ImageLimits {
  /** The maximum bytes of an image file. */
  bytes: number;
  /** The maximum number of images that a trajectory may make. */
  images: number;
  /** Seconds per image. */
  time: number;
}

/** The limits and the signal of a request for an image. */
export interface Asked {
  limits: GalleryLimits;
  signal: AbortSignal;
}

/** A trajectory's images, numbered from 1: the task's images, followed by those that were made, in order. */
export class Gallery {
  readonly #given: readonly unknown[];
  readonly #folder: string | undefined;
  readonly #read = new Map<number, MadeImage>();
  readonly #made: MadeImage[] = [];

  /**
   * `given` contains the references to images in the task's row. They are read on demand. Paths are relative
   * to `folder`.
   */
  constructor(given: readonly unknown[], folder: string | undefined) {
    this.#given = given;
    this.#folder = folder;
  }

  /**
   * Returns an image. Throws Mistake if the number is unknown, and an error if an image of the task can't be
   * used.
   */
  async image(number: number, asked: Asked): Promise<MadeImage> {
    const known = this.#read.get(number) ?? this.#made[number - 1 - this.#given.length];
    if (known !== undefined) return known;
    if (number > this.#given.length) throw new Mistake(`there is no image ${number}: ${this.#told()}`);
    return ofTask(number, asked, async () => {
      const data = await readImage(this.#given[number - 1], this.#folder, asked.limits.bytes);
      const size = await askAboutImage({ data, limits: asked.limits }, asked);
      const read = { data, width: size.width, height: size.height };
      this.#read.set(number, read);
      return read;
    });
  }

  /**
   * Makes an image from another one, and returns its number. Throws the errors of `image`, and Mistake if
   * there are too many images.
   */
  async make(number: number, change: Change, asked: Asked): Promise<{ number: number; image: MadeImage }> {
    const { data } = await this.image(number, asked);
    this.expectRoom(1, asked.limits);
    const image = await ofTask(number, asked, () =>
      askAboutImage({ data, limits: asked.limits, change }, asked),
    );
    return { number: this.add(image), image };
  }

  /** Throws Mistake if `count` more images would be too many. */
  expectRoom(count: number, { images }: GalleryLimits): void {
    if (this.#made.length + count > images)
      throw new Mistake(`no more than ${images} images may be made, and ${this.#made.length} were`);
  }

  /** Adds an image and returns its number. */
  add(image: MadeImage): number {
    return this.#given.length + this.#made.push(image);
  }

  #told(): string {
    const last = this.#given.length + this.#made.length;
    if (last === 0) return "there is none";
    return last === 1 ? "there is only image 1" : `there are the images 1 to ${last}`;
  }
}

async function ofTask(number: number, { signal }: Asked, use: () => Promise<MadeImage>): Promise<MadeImage> {
  try {
    return await use();
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`image ${number} can't be used: ${reason}`, { cause: error });
  }
}
