#!/bin/sh
# Makes the pictures of the committed table, of Debian's photographs and drawings:
#     apt-get install plasma-workspace-wallpapers libjpeg-turbo-progs libjxl-tools libavif-bin webp libjxl0.7 libavif15 libwebp7 libpng16-16 libturbojpeg0
#     benchmarks/Measurements/Factors/make-pictures.sh artifacts/estimate-pictures
set -eu
target=${1:?a folder}
wallpapers=${2:-/usr/share/wallpapers}
mkdir -p "$target"
# encode SOURCE.jpg NAME: in every format.
encode() {
    base=$target/$2
    djpeg -outfile "$base.ppm" "$1"
    for sampling in 2x2 1x1; do
        cjpeg -quality 90 -sample $sampling -outfile "$base-$sampling.jpg" "$base.ppm"
        cjpeg -quality 90 -sample $sampling -progressive -outfile "$base-$sampling-progressive.jpg" "$base.ppm"
    done
    cjxl --quiet -d 1 -e 3 "$base.ppm" "$base.jxl"
    cjxl --quiet -d 0 -e 3 "$base.ppm" "$base-lossless.jxl"
    rm "$base.ppm"
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
for name in Altai IceCold Kay Patak MilkyWay Opal; do
    images=$wallpapers/$name/contents
    cp "$(ls -S "$images"/images/*.png | head -n 1)" "$target/$name.png"
done
for name in Altai IceCold; do
    cp "$wallpapers/$name/contents/screenshot.png" "$target/$name-small.png"
done
