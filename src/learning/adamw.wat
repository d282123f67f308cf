;; The inner loops of AdamW over one chunk of numbers, four at a time. `node scripts/generate-wasm.ts` makes
;; adamw-module.ts of this file. The memory holds a chunk of each array: parameters, gradients, first moments and
;; second moments, 4,096 floats (16,384 bytes) each, one after the other.
(module
  (memory (export "memory") 1)

  ;; Updates the first `count` (a multiple of 4) parameters and moments of the chunk.
  (func (export "update")
    (param $count i32)
    (param $gradientScale f32)
    (param $firstDecay f32) (param $firstGain f32)   ;; β1 and 1 − β1
    (param $secondDecay f32) (param $secondGain f32) ;; β2 and 1 − β2
    (param $kept f32)                                ;; 1 − learning rate · weight decay
    (param $stepSize f32)                            ;; learning rate / (1 − β1^t)
    (param $secondScale f32)                         ;; 1 / √(1 − β2^t)
    (param $epsilon f32)
    (local $at i32) (local $end i32)
    (local $slope v128) (local $first v128) (local $second v128)
    (local.set $end (i32.shl (local.get $count) (i32.const 2)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $slope
          (f32x4.mul (v128.load offset=16384 (local.get $at)) (f32x4.splat (local.get $gradientScale))))
        (local.set $first
          (f32x4.add
            (f32x4.mul (v128.load offset=32768 (local.get $at)) (f32x4.splat (local.get $firstDecay)))
            (f32x4.mul (local.get $slope) (f32x4.splat (local.get $firstGain)))))
        (local.set $second
          (f32x4.add
            (f32x4.mul (v128.load offset=49152 (local.get $at)) (f32x4.splat (local.get $secondDecay)))
            (f32x4.mul
              (f32x4.mul (local.get $slope) (local.get $slope))
              (f32x4.splat (local.get $secondGain)))))
        (v128.store offset=32768 (local.get $at) (local.get $first))
        (v128.store offset=49152 (local.get $at) (local.get $second))
        (v128.store (local.get $at)
          (f32x4.sub
            (f32x4.mul (v128.load (local.get $at)) (f32x4.splat (local.get $kept)))
            (f32x4.div
              (f32x4.mul (local.get $first) (f32x4.splat (local.get $stepSize)))
              (f32x4.add
                (f32x4.mul (f32x4.sqrt (local.get $second)) (f32x4.splat (local.get $secondScale)))
                (f32x4.splat (local.get $epsilon))))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next))))

  ;; The sum of the squares of the first `count` (a multiple of 4) gradients of the chunk, in double precision.
  (func (export "squares") (param $count i32) (result f64)
    (local $at i32) (local $end i32)
    (local $slope v128) (local $low v128) (local $high v128) (local $lowSum v128) (local $highSum v128)
    (local.set $end (i32.shl (local.get $count) (i32.const 2)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $slope (v128.load offset=16384 (local.get $at)))
        (local.set $low (f64x2.promote_low_f32x4 (local.get $slope)))
        (local.set $high
          (f64x2.promote_low_f32x4
            (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $slope) (local.get $slope))))
        (local.set $lowSum (f64x2.add (local.get $lowSum) (f64x2.mul (local.get $low) (local.get $low))))
        (local.set $highSum (f64x2.add (local.get $highSum) (f64x2.mul (local.get $high) (local.get $high))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next)))
    (local.set $lowSum (f64x2.add (local.get $lowSum) (local.get $highSum)))
    (f64.add (f64x2.extract_lane 0 (local.get $lowSum)) (f64x2.extract_lane 1 (local.get $lowSum)))))
