#!/bin/sh
# Makes the pictures of the committed table, of Debian's photographs:
#     apt-get install plasma-workspace-wallpapers libjpeg-turbo-progs libavif-bin webp libavif15 libwebp7
#     benchmarks/Measurements/Factors/make-pictures.sh artifacts/estimate-pictures
set -eu
target=${1:?a folder}
wallpapers=${2:-/usr/share/wallpapers}
mkdir -p "$target"
# encode SOURCE.jpg NAME: in every format.
encode() {
    base=$target/$2
    avifenc --jobs all --speed 9 "$1" "$base.avif" >/dev/null
    cwebp -quiet -q 90 "$1" -o "$base.webp"
    cwebp -quiet -lossless -z 1 "$1" -o "$base-lossless.webp"
}

for name in SafeLanding Honeywave Shell Volna FallenLeaf; do
    encode "$(ls -S "$wallpapers/$name"/contents/images/*.jpg | head -n 1)" "$name"
done

# Small ones, with which a child loads and compiles its code before it measures.
djpeg -scale 1/8 "$wallpapers/Shell/contents/images/5120x2880.jpg" | cjpeg -quality 95 -outfile "$target/small-source.jpg"
encode "$target/small-source.jpg" small
rm "$target/small-source.jpg"
